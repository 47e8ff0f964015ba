# SPDX-License-Identifier: Apache-2.0
"""A server of nothing but /health and /metrics, on 127.0.0.1: metrics_server.py DIRECTORY.

The page is DIRECTORY/page as it is at that moment; DIRECTORY/mode, where it is there, says what goes wrong with it:
hang, gzip, html, huge, 500. The port is in DIRECTORY/port; it ends after two minutes, or with SIGTERM."""
import gzip
import http.server
import os
import signal
import socketserver
import sys
import threading
import time

where = sys.argv[1]


def text(name):
    try:
        with open(os.path.join(where, name), "rb") as f:
            return f.read()
    except FileNotFoundError:
        return b""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        mode = text("mode").decode().strip() if self.path != "/health" else ""
        if mode == "hang":
            open(os.path.join(where, "asked"), "w").close()
            time.sleep(60)
            return
        body = text("page") if self.path != "/health" else b"ok\n"
        if mode == "huge":
            body += b"# " + b"x" * (20 << 20) + b"\n"
        if mode == "gzip":
            body = gzip.compress(body)
        self.send_response(500 if mode == "500" else 200)
        self.send_header("Content-Type", "text/html" if mode == "html" else "text/plain; version=0.0.4")
        if mode == "gzip":
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    allow_reuse_address = True


signal.signal(signal.SIGTERM, lambda *a: os._exit(0))
port = int(text("port") or 0)
server = Server(("127.0.0.1", port), Handler)
with open(os.path.join(where, "port.new"), "w") as f:
    f.write(str(server.server_address[1]))
os.rename(os.path.join(where, "port.new"), os.path.join(where, "port"))
threading.Timer(120, lambda: os._exit(0)).start()
server.serve_forever()
