"""Streams whose memory may be seized: state and output together hide what came before."""
