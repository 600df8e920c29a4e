"""From a planned query and its noisy values to the columns of a release: post-processing only.

Which formula a column has is its aggregate's to say; intervals are computed in
:mod:`discreet.release.intervals`.
"""
