import NIOCore
import NIOHTTP1
import NIOPosix
import WebSocket

// The two sides of the Autobahn test suite on this package's WebSocket code:
//   AutobahnEcho server PORT        echoes every message, sends nothing of its own
//   AutobahnEcho client URL         runs all cases of a fuzzing server, such as ws://127.0.0.1:9001

let arguments = CommandLine.arguments
switch (arguments.dropFirst().first, arguments.dropFirst(2).first) {
case ("server", let port?):
    try await EchoServer(port: Int(port) ?? 9001).run()
case ("client", let url?):
    try await CaseRunner(url: url).run()
default:
    print("usage: AutobahnEcho server PORT | client ws://HOST:PORT")
}
