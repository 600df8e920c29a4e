"""The service: many analysts, one protected data set. Needs the extra ``server``.

``discreet serve`` starts it. :class:`Service` is what every door calls; :func:`create_app` is the
HTTP door, to be mounted elsewhere or run by any ASGI server. Importing this package loads nothing
else; both names are loaded on first use.
"""

from typing import TYPE_CHECKING

from discreet.core.lazy import loader

if TYPE_CHECKING:
    from discreet.server.api.app import create_app
    from discreet.server.service import Service

__all__ = ["Service", "create_app"]

__getattr__ = loader(__name__, {"api.app": ("create_app",), "service": ("Service",)})
