"""Presidio's analyzer behind the HTTP contract of its own image: POST /analyze.

The package from PyPI has the analyzer and the form of requests, and not the app of the image. Prints its URL as
JSON; ends with its standard input.
"""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import spacy
from presidio_analyzer import AnalyzerEngine, AnalyzerRequest, PatternRecognizer
from presidio_analyzer.nlp_engine import SpacyNlpEngine


class Blank(SpacyNlpEngine):
    """spaCy without a trained model, which PyPI does not have: it divides texts into words and finds no names."""

    def load(self):
        self.nlp = {"en": spacy.blank("en")}


analyzer = AnalyzerEngine(nlp_engine=Blank(), supported_languages=["en"])
# In the place of a model.
analyzer.registry.add_recognizer(PatternRecognizer("PERSON", deny_list=["Jörg Müller", "Jane Doe", "Barack Obama"]))
lock = threading.Lock()  # nothing says that the engine may be asked by many at once


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            if self.path != "/analyze":
                return self.answer(404, {"error": "no such path"})
            request = AnalyzerRequest(json.loads(body))
            if not request.text or not request.language:
                return self.answer(500, {"error": "no text or no language"})
            with lock:
                found = analyzer.analyze(
                    text=request.text,
                    language=request.language,
                    correlation_id=request.correlation_id,
                    score_threshold=request.score_threshold,
                    entities=request.entities,
                    return_decision_process=request.return_decision_process,
                    ad_hoc_recognizers=request.ad_hoc_recognizers,
                    context=request.context,
                    allow_list=request.allow_list,
                    allow_list_match=request.allow_list_match,
                    regex_flags=request.regex_flags,
                )
            self.answer(200, [r.to_dict() for r in found])
        except Exception as e:  # as the app of the image does
            self.answer(500, {"error": str(e)})

    def answer(self, status, value):
        # The app drops what may not be JSON of a result, and the identifiers of this process.
        text = json.dumps(value, default=lambda o: None).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps({"url": f"http://127.0.0.1:{server.server_port}"}), flush=True)
sys.stdin.read()
os._exit(0)
