"""Scripts that an administrator runs: they call the same use cases as messages and commands, so they are as safe."""
