"""The service: many analysts, one protected data set. Needs the extra ``server``.

``discreet serve`` starts it. :class:`Service` is what every door calls; :func:`create_app` is the
HTTP door, to be mounted elsewhere or run by any ASGI server.
"""

from discreet.server.api.app import create_app
from discreet.server.service import Service

__all__ = ["Service", "create_app"]
