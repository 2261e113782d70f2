"""How it starts: settings, actors, commands, the outside world. Only `container.py` may import `adapters`."""
