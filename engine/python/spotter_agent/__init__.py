"""The container's side of Spotter's job protocol, for images that hold a training or a serving engine.

Standard library only, Python 3.9 or newer: it is fetched into whatever image an engine comes in, and must not
depend on anything that the engine did not bring along.
"""
