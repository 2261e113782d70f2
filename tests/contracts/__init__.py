"""One suite per port, run over the fake and over the real adapter alike."""
