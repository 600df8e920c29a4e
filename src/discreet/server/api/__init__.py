"""The HTTP door: JSON under ``/api/v1``, described by OpenAPI."""
