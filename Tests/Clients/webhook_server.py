#!/usr/bin/env python3
"""An HTTPS server that prints every POST, and answers any GET with 200.

usage: webhook_server.py CERTIFICATE KEY [CIPHERS]; with CIPHERS it speaks TLS 1.2 only, with these.
"""
import http.server
import ssl
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        print(self.path, self.headers["Content-Type"], body.decode(), flush=True)
        self.send_response(204)
        self.end_headers()

    def do_GET(self):
        self.protocol_version = "HTTP/1.1"
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
if len(sys.argv) > 3:
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(sys.argv[3])
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
server.socket = context.wrap_socket(server.socket, server_side=True)
print("port", server.server_port, flush=True)
server.serve_forever()
