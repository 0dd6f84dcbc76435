package import Foundation
import Glibc

/// A sample program of Finnhub's documentation in one of its languages, unmodified except for the URL.
package struct FinnhubSample: Sendable, CustomStringConvertible {
    package struct Missing: Error, CustomStringConvertible {
        package var description: String
    }

    package let description: String
    private let path: String
    private var arguments: [String] = []
    private var environment: [String: String] = [:]
    /// The files that it needs in addition to the program itself.
    private var needs: [String] = []
    /// Formats a message as the sample prints it.
    private let shows: @Sendable (Frame) -> String

    /// A message with one trade, or a ping.
    package enum Frame: Sendable {
        case trade(symbol: String, price: String, size: String)
        case ping

        /// The message's bytes as Finnhub sends them.
        package var text: String {
            switch self {
            case .trade(let symbol, let price, let size):
                #"{"data":[{"c":null,"p":\#(price),"s":"\#(symbol)","t":1723161255342,"v":\#(size)}],"type":"trade"}"#
            case .ping:
                #"{"type":"ping"}"#
            }
        }

        /// The message as Go prints the decoded map.
        fileprivate var map: String {
            switch self {
            case .trade(let symbol, let price, let size):
                "map[data:[map[c:<nil> p:\(price) s:\(symbol) t:1.723161255342e+12 v:\(size)]] type:trade]"
            case .ping:
                "map[type:ping]"
            }
        }
    }

    private static let folder = "\(RunningProgram.sources)/Tests/Clients/Finnhub"
    private static let prefix = "Message from server  "

    /// The sample with the package websocket-client; it prints the received bytes.
    package static let python = FinnhubSample(
        description: "Python, websocket-client",
        path: RunningProgram.python,
        arguments: ["\(Self.folder)/run.py"],
        shows: { $0.text }
    )
    /// The sample with Debian's node-ws; it prints the received bytes.
    package static let javaScript = FinnhubSample(
        description: "JavaScript, ws",
        path: "/usr/bin/node",
        arguments: ["\(Self.folder)/run.js"],
        environment: ["NODE_PATH": "/usr/share/nodejs"],
        needs: ["/usr/share/nodejs/ws/package.json"],
        shows: { Self.prefix + $0.text }
    )
    /// The sample with Debian's gorilla; it prints the decoded message.
    package static let go = FinnhubSample(
        description: "Go, gorilla",
        path: "\(RunningProgram.sources)/.build/go/sample",
        shows: { Self.prefix + $0.map }
    )
    /// The same with one line added, so that it can unsubscribe, as the other two can.
    package static let goUnsubscribing = FinnhubSample(
        description: "Go, gorilla, unsubscribing",
        path: "\(RunningProgram.sources)/.build/go/unsubscribing",
        shows: { Self.prefix + $0.map }
    )

    /// Returns the line that it prints for a message.
    package func line(of frame: Frame) -> String { self.shows(frame) }

    /// Starts it. Each line of `input` is a symbol to unsubscribe.
    package func start(_ url: String, input: Pipe) throws -> RunningProgram {
        for path in [self.path] + self.needs where access(path, R_OK) != 0 {
            throw Missing(description: "\(path) is missing: run scripts/test, which makes or installs it")
        }
        return try RunningProgram(
            self.path,
            self.arguments + [url],
            environment: self.environment,
            input: input
        )
    }
}

extension RunningProgram {
    /// Waits until the program has printed the line, and returns all lines so far.
    package func lines(upTo last: String, atMost limit: Duration = .seconds(60)) async -> [String] {
        _ = await self.prints(last, atMost: limit)
        return self.output.split(separator: "\n").map(String.init)
    }
}
