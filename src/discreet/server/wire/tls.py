"""TLS for the wire, with the certificate that the rest of the service has."""

from __future__ import annotations

import ssl

from discreet.core.errors import InvalidParameter
from discreet.server.settings import Certificate


def tls_context(certificate: Certificate) -> ssl.SSLContext:
    """What the server shows, and the least that it accepts: TLS 1.2."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate.certificate, certificate.key)
    except (ssl.SSLError, OSError):
        raise InvalidParameter(
            code="certificate_missing",
            expectation="a certificate in PEM form and the key that belongs to it",
            received=certificate.certificate.name,
            remedy="Check [service.tls].",
        ) from None
    return context
