import NIOCore
import NIOHTTP1
import NIOPosix
import TLS
import WebSocket

// The two sides of the Autobahn test suite on this package's WebSocket code:
//   AutobahnEcho server PORT [tls]          echoes every message, sends nothing of its own
//   AutobahnEcho client URL [CA_FILE]       runs all cases of a fuzzing server, such as ws://127.0.0.1:9001
//   AutobahnEcho certificate DIRECTORY      makes ca.pem, certificate.pem and key.pem for a fuzzing server with TLS

let arguments = Array(CommandLine.arguments.dropFirst())
switch (arguments.first, arguments.dropFirst().first, arguments.dropFirst(2).first) {
case ("server", let port?, let tls):
    try await EchoServer(port: Int(port) ?? 9001, isEncrypted: tls == "tls").run()
case ("client", let url?, let authority):
    try await CaseRunner(url: url, authorityFile: authority).run()
case ("certificate", let directory?, _):
    try writeCertificates(to: directory)
default:
    print("usage: AutobahnEcho server PORT [tls] | client URL [CA_FILE] | certificate DIRECTORY")
}
