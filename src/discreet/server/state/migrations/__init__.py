"""One file for each form of the state. A file that was released is never changed again."""
