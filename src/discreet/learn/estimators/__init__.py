"""Estimators in the manner of scikit-learn. They need the extra ``learn``."""
