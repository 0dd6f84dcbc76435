import Foundation
import Glibc
import Testing
import TickertapeTesting

/// The program on a terminal, with keys.
@Suite("Keys at the program's screen", .serialized, .timeLimit(.minutes(5 * Patience.factor)))
struct KeyProgramTests {
    private static func trade(_ symbol: String, _ price: String) -> String {
        #"{"data":[{"c":null,"p":\#(price),"s":"\#(symbol)","t":1723161255342,"v":0.02}],"type":"trade"}"#
    }

    /// The program under `script`, which gives it a terminal.
    private struct OnTerminal {
        let program: RunningProgram
        private let keyboard = Pipe()

        init(_ arguments: [String], state: String) throws {
            let command = ([RunningProgram.tickertape] + arguments).map { "'\($0)'" }.joined(separator: " ")
            self.program = try RunningProgram(
                "/usr/bin/script",
                ["-qefc", command, "/dev/null"],
                environment: [
                    "FINNHUB_TOKEN": Canary.key, "XDG_STATE_HOME": state, "XDG_RUNTIME_DIR": state, "TERM": "xterm",
                    "LC_ALL": "C.UTF-8", "SHELL": "/bin/sh",
                ],
                input: self.keyboard
            )
        }

        func types(_ text: String) { self.keyboard.fileHandleForWriting.write(Data(text.utf8)) }

        /// Waits until the terminal has received a text; `false` after the time limit.
        func shows(_ text: String) async -> Bool {
            for _ in 0..<600 * Patience.factor {
                if self.program.output.contains(text) { return true }
                try? await Task.sleep(for: .milliseconds(50))
            }
            return false
        }
    }

    @Test(
        "a symbol added by key is asked for upstream, r makes a new connection with it, and the next start has it",
        arguments: ["off", "127.0.0.1:0"]
    )
    func adds(relay: String) async throws {
        try #require(access("/usr/bin/script", X_OK) == 0, "/usr/bin/script is part of util-linux (bsdutils)")
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try await ScriptedFinnhub.start { _ in .play([]) }
        var events = server.events.makeAsyncIterator()
        /// Waits for a request that names a symbol; returns its connection.
        func request(_ kind: String, _ symbol: String) async -> Int? {
            while let event = await events.next() {
                guard case .received(let connection, let text) = event else { continue }
                if text.contains("\"\(kind)\""), text.contains(symbol) { return connection }
            }
            return nil
        }
        let arguments = ["run", "--upstream", "ws://127.0.0.1:\(server.port)", "--relay", relay]
        let first = try OnTerminal(arguments, state: folder.path)
        #expect(await request("subscribe", "BINANCE:BTCUSDT") == 0)
        first.types("+BINANCE:ETHUSDT\r")
        #expect(await request("subscribe", "BINANCE:ETHUSDT") == 0)
        server.send(Self.trade("BINANCE:ETHUSDT", "3456.78"), on: 0)
        #expect(await first.shows("3456.78"), "\(first.program.output)")
        first.types("r")
        #expect(await request("subscribe", "BINANCE:BTCUSDT") == 1)
        #expect(await request("subscribe", "BINANCE:ETHUSDT") == 1)
        server.send(Self.trade("BINANCE:BTCUSDT", "61837.63"), on: 1)
        #expect(await first.shows("61837.63"), "\(first.program.output)")
        // The symbol of the settings can be removed like any other.
        first.types("\u{1B}[H-")
        #expect(await request("unsubscribe", "BINANCE:BTCUSDT") == 1)
        first.types("q")
        #expect(await first.program.ending() == .exit(0), "\(first.program.output)")

        // The stored backoff is for restart loops, and would delay this test.
        for entry in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where entry.hasSuffix(".attempts")
        {
            try FileManager.default.removeItem(atPath: "\(folder.path)/\(entry)")
        }
        let second = try OnTerminal(arguments, state: folder.path)
        var asked: [String] = []
        while let event = await events.next() {
            guard case .received(2, let text) = event else { continue }
            asked.append(text)
            if text.contains("BINANCE:ETHUSDT") { break }
        }
        #expect(asked.count == 1, "\(asked)")
        second.types("\u{3}")
        #expect(await second.program.ending() == .exit(0), "\(second.program.output)")
        try await server.stop()
    }
}
