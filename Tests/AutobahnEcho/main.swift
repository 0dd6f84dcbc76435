import NIOCore
import NIOHTTP1
import NIOPosix
import TLS
import WebSocket

// The two sides of the Autobahn test suite on this package's WebSocket code:
//   AutobahnEcho server PORT [tls]          echoes every message, sends nothing of its own
//   AutobahnEcho relay PORT [tls]           the same, upgraded and sent in the relay's way
//   AutobahnEcho client URL [CA_FILE]       runs all cases of a fuzzing server, such as ws://127.0.0.1:9001
//   AutobahnEcho certificate DIRECTORY      makes ca.pem, certificate.pem and key.pem for a fuzzing server with TLS

let arguments = Array(CommandLine.arguments.dropFirst())
switch (arguments.first, arguments.dropFirst().first, arguments.dropFirst(2).first) {
case ("server", let port?, let tls):
    try await EchoServer(way: .channel, port: Int(port) ?? 9001, isEncrypted: tls == "tls").run()
case ("relay", let port?, let tls):
    try await EchoServer(way: .relay, port: Int(port) ?? 9001, isEncrypted: tls == "tls").run()
case ("client", let url?, let authority):
    try await CaseRunner(url: url, authorityFile: authority).run()
case ("certificate", let directory?, _):
    try writeCertificates(to: directory)
default:
    print("usage: AutobahnEcho server|relay PORT [tls] | client URL [CA_FILE] | certificate DIRECTORY")
}
