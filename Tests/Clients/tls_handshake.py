"""Checks a server's certificate with Python's ssl in its strictest mode: tls_handshake.py HOST PORT CA-FILE [NAME].

Prints the TLS version, the negotiated protocol, and the certificate's SHA-256 digest.
"""
import hashlib
import socket
import ssl
import sys

host, port, authority = sys.argv[1], int(sys.argv[2]), sys.argv[3]
context = ssl.create_default_context(cafile=authority)
context.verify_flags |= ssl.VERIFY_X509_STRICT
context.set_alpn_protocols(["h2", "http/1.1"])
with socket.create_connection((host, port), timeout=20) as plain:
    with context.wrap_socket(plain, server_hostname=sys.argv[4] if len(sys.argv) > 4 else host) as connection:
        digest = hashlib.sha256(connection.getpeercert(binary_form=True)).hexdigest()
        print(connection.version(), connection.selected_alpn_protocol(), digest, flush=True)
