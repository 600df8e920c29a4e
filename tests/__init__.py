"""The tests, as a package of its own, so that no other package `tests` can stand in its place."""
