import Glibc
import NIOConcurrencyHelpers
import NIOCore
import Testing
import TickertapeTesting
import Wire

/// The restart of a recording program while the market continues and its clients reconnect.
@Suite("A restart", .serialized, .timeLimit(.minutes(5 * Patience.factor)))
struct RestartTests {
    /// One trade as the client received it.
    private struct Had: Equatable {
        var epoch: UInt64
        var sequence: UInt64
        /// The market's number of the trade, which is its price.
        var number: Int
    }

    /// A market that numbers its trades by their prices, and continues without a connection.
    private final class Market: Sendable {
        let server: ScriptedFinnhub
        private let listener = NIOLockedValueBox<Int?>(nil)
        private let sent = NIOLockedValueBox(0)
        private let tasks = NIOLockedValueBox<[Task<Void, Never>]>([])

        /// The number of the newest trade.
        var newest: Int { self.sent.withLockedValue { $0 } }

        init() async throws {
            let server = try await ScriptedFinnhub.start { _ in .play([]) }
            self.server = server
            let listener = self.listener
            let sent = self.sent
            let listening = Task {
                for await event in server.events {
                    switch event {
                    case .received(let connection, let text) where text.contains("subscribe"):
                        listener.withLockedValue { $0 = connection }
                    case .ended(let connection):
                        listener.withLockedValue { if $0 == connection { $0 = nil } }
                    case .accepted, .opened, .received:
                        break
                    }
                }
            }
            let trading = Task {
                while !Task.isCancelled {
                    let number = sent.withLockedValue { number in
                        number += 1
                        return number
                    }
                    let frame =
                        #"{"data":[{"c":null,"p":\#(number),"s":"BINANCE:BTCUSDT","t":1723161255342,"v":1}],"type":"trade"}"#
                    if let connection = listener.withLockedValue({ $0 }) { server.send(frame, on: connection) }
                    try? await Task.sleep(for: .milliseconds(3))
                }
            }
            self.tasks.withLockedValue { $0 = [listening, trading] }
        }

        /// Waits until this many more trades have happened.
        func goesOn(by count: Int) async throws {
            let end = self.newest + count
            while self.newest < end { try await Task.sleep(for: .milliseconds(5)) }
        }

        func stop() async throws {
            for task in self.tasks.withLockedValue({ $0 }) { task.cancel() }
            try await self.server.stop()
        }
    }

    private func python(
        _ script: String,
        _ arguments: [String],
        environment: [String: String] = [:]
    ) throws
        -> RunningProgram
    {
        try #require(access(RunningProgram.python, X_OK) == 0, "scripts/test makes \(RunningProgram.python)")
        let path = "\(RunningProgram.sources)/Tests/Clients/\(script)"
        return try RunningProgram(RunningProgram.python, [path] + arguments, environment: environment)
    }

    private static func trades(in output: String) -> [Had] {
        output.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 4, words[0] == "trade", let epoch = UInt64(words[1]), let sequence = UInt64(words[2]),
                let number = Int(words[3])
            else { return nil }
            return Had(epoch: epoch, sequence: sequence, number: number)
        }
    }

    /// Returns the market's numbers in a recording.
    private static func recorded(in folder: TemporaryFolder, epoch: UInt64) throws -> [Int] {
        let listing = try #require(opendir(folder.path))
        defer { closedir(listing) }
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name.hasSuffix(".jsonl") else { continue }
            let text = try folder.read(name)
            guard text.contains("\"epoch\":\(epoch),") else { continue }
            return text.split(separator: "\n").compactMap { RunningProgram.number(in: String($0), behind: #"\"p\":"#) }
        }
        return []
    }

    @Test("loses no trade that was recorded, tells of the rest, and gives none twice", arguments: [SIGUSR1, SIGUSR2])
    func bridges(order: Int32) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let market = try await Market()
        let manager = try self.python(
            "service_manager.py",
            [
                RunningProgram.tickertape, "record", "--quiet", "--upstream", "ws://127.0.0.1:\(market.server.port)",
                "--set", "state.directory=off", "--set", "record.compress=false",
            ],
            environment: [
                "FINNHUB_TOKEN": Canary.key, "TICKERTAPE_RECORD_DIRECTORY": folder.path, "TEAR": folder.path,
            ]
        )
        #expect(await manager.prints("told READY=1"), "\(manager.errors)")
        let port = try #require(RunningProgram.number(in: manager.output, behind: "listening "))
        let url = "ws://127.0.0.1:\(port)/v1/stream"
        // One client stays connected until the restart; the other leaves before it and reconnects after it.
        let present = try self.python("resume_client.py", [url])
        let away = try self.python("resume_client.py", [url, "40"])
        #expect(await away.prints("left"))
        #expect(await present.prints("trade", times: 40))
        try await market.goesOn(by: 100)
        manager.send(signal: order)
        #expect(await manager.prints("told READY=1", times: 2), "\(manager.errors)")
        try await market.goesOn(by: 50)
        away.send(signal: SIGUSR1)
        for client in [present, away] {
            #expect(await client.prints("resumed"), "\(client.errors) \(client.output.suffix(2_000))")
            let before = Self.trades(in: client.output).count
            #expect(await client.prints("trade", times: before + 40))
        }
        manager.send(signal: SIGTERM)
        #expect(await manager.ending() == .exit(0))
        #expect(manager.output.contains("ended 0"))

        for client in [present, away] {
            let trades = Self.trades(in: client.output)
            let epochs = trades.reduce(into: [UInt64]()) { if $0.last != $1.epoch { $0.append($1.epoch) } }
            try #require(epochs.count == 2, "\(epochs)")
            // Within a run, every trade arrives once and in order.
            for (one, next) in zip(trades, trades.dropFirst()) where one.epoch == next.epoch {
                try #require(next.sequence == one.sequence + 1 && next.number == one.number + 1, "\(one) \(next)")
            }
            let old = trades.filter { $0.epoch == epochs[0] }
            let new = trades.filter { $0.epoch == epochs[1] }
            let last = try #require(old.last)
            let first = try #require(new.first)
            // Trades that no program received are missing, and a gap separates the two runs.
            #expect(first.number > last.number && first.sequence == 1)
            let lines = client.output.split(separator: "\n")
            let border = try #require(lines.firstIndex { $0.hasPrefix("trade \(epochs[1]) ") })
            let start = try #require(lines.lastIndex { $0.hasPrefix("trade \(epochs[0]) ") })
            #expect(lines[start..<border].contains { $0.hasPrefix("gap ") }, "\(lines[start..<border])")
            let recorded = try Self.recorded(in: folder, epoch: epochs[0])
            #expect(recorded.count > 100)
            // All recorded trades were delivered. The connected client may have received more from a killed program.
            if client === away {
                #expect(last.number == recorded.last)
            } else {
                #expect(last.number >= recorded.last ?? 0)
            }
        }
        let caughtUp = Self.trades(in: away.output)
        #expect(caughtUp.count(where: { $0.epoch == caughtUp[0].epoch }) >= 100)
        try await market.stop()
    }
}
