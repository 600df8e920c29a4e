"""The web door: pages made here, with small scripts of their own, for people with a browser."""
