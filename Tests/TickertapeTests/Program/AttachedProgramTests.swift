import Glibc
import Testing
import TickertapeTesting

/// A program that follows the relay of another one with the same key, over a connection that a test can cut.
@Suite("An attached program", .serialized, .timeLimit(.minutes(5 * Patience.factor)))
struct AttachedProgramTests {
    private static let key = "averysecretkey"
    /// The price of the first trade that counts; earlier ones may come before a program's subscription.
    private static let first = 1_000

    private static func trade(_ price: Int) -> String {
        #"{"data":[{"c":["1"],"p":\#(price),"s":"BINANCE:BTCUSDT","t":1723161255342,"v":0.020}],"type":"trade"}"#
    }

    private func record(
        _ server: ScriptedFinnhub,
        _ folder: TemporaryFolder,
        _ name: String,
        relay: String
    ) throws
        -> RunningProgram
    {
        try RunningProgram(
            RunningProgram.tickertape,
            [
                "record", "--format", "plain", "--upstream", "ws://127.0.0.1:\(server.port)", "--relay", relay,
                "\(folder.path)/\(name)",
            ],
            environment: [
                "FINNHUB_TOKEN": Self.key, "XDG_STATE_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path,
            ]
        )
    }

    /// Makes the key's lock name another port of the owner's relay.
    private func lead(_ folder: TemporaryFolder, from port: Int, to other: Int) async throws {
        let list = try RunningProgram("/bin/ls", ["\(folder.path)/tickertape"])
        #expect(await list.ending() == .exit(0))
        let names = list.output.split(separator: "\n").filter { $0.hasSuffix(".lock") && $0 != "alerts.lock" }
        let name = try #require(names.first)
        let text = try folder.read("tickertape/\(name)")
        try #require(text.contains("port=\(port)\n"))
        let lines = text.split(separator: "\n").map { $0 == "port=\(port)" ? "port=\(other)" : $0 }
        _ = try folder.write(lines.map { "\($0)\n" }.joined(), to: "tickertape/\(name)")
    }

    /// Returns the recorded frames from the first trade that counts, as they stand in the file.
    private func frames(_ folder: TemporaryFolder, _ name: String) throws -> [Substring] {
        var frames: [Substring] = []
        for line in try folder.read(name).split(separator: "\n") where line.contains(#""dir":"in""#) {
            guard let start = line.firstRange(of: #""frame":"#)?.lowerBound,
                let end = line.firstRange(of: #","crc""#)?.lowerBound
            else { continue }
            frames.append(line[start..<end])
        }
        return Array(frames.drop { !$0.contains(#"\"p\":\#(Self.first),"#) })
    }

    /// Waits until a recording holds a text.
    private func waits(for text: String, _ folder: TemporaryFolder, _ name: String) async throws -> Bool {
        let end = ContinuousClock.now + .seconds(30) * Patience.factor
        while ContinuousClock.now < end {
            if try folder.read(name).contains(text) { return true }
            try await Task.sleep(for: .milliseconds(20))
        }
        return false
    }

    @Test("records over a connection that breaks while trades come what one without a break records, and no gap")
    func shortBreak() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try await ScriptedFinnhub.start { _ in .play([.send(Self.trade(1))]) }
        let owner = try self.record(server, folder, "owner.jsonl", relay: "127.0.0.1:0")
        let port = try #require(await owner.relayPort(), "\(owner.errors)")
        #expect(await owner.printsError(of: "live"))
        let whole = try self.record(server, folder, "whole.jsonl", relay: "off")
        #expect(await whole.follows(relay: "127.0.0.1:\(port)"))
        let line = try await CuttableLine.start(to: port)
        try await self.lead(folder, from: port, to: line.port)
        let broken = try self.record(server, folder, "broken.jsonl", relay: "off")
        #expect(await broken.follows(relay: "127.0.0.1:\(line.port)"))
        // A trade proves that both have subscribed.
        for program in [whole, broken] {
            let isLive = Task { await program.printsError(of: "Z live via") }
            var price = 1
            while !program.errors.contains("Z live via"), price < Self.first - 1 {
                price += 1
                server.send(Self.trade(price), on: 0)
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(await isLive.value, "\(program.errors)")
        }
        for step in 0..<3 {
            let price = Self.first + 10 * step
            for price in price..<price + 5 { server.send(Self.trade(price), on: 0) }
            #expect(try await self.waits(for: #"\"p\":\#(price),"#, folder, "broken.jsonl"))
            await line.cut()
            for price in price + 5..<price + 10 { server.send(Self.trade(price), on: 0) }
            line.mend()
            for name in ["whole.jsonl", "broken.jsonl"] {
                #expect(try await self.waits(for: #"\"p\":\#(price + 9),"#, folder, name), "\(broken.errors)")
            }
        }
        for program in [broken, whole, owner] {
            program.send(signal: SIGTERM)
            #expect(await program.ending(atMost: .seconds(10)) == .exit(0), "\(program.errors)")
        }
        let expected = try self.frames(folder, "whole.jsonl")
        #expect(expected.count == 30)
        #expect(try self.frames(folder, "broken.jsonl") == expected)
        let text = try folder.read("broken.jsonl")
        #expect(text.contains(#""event":"disconnect""#) && !text.contains(#""event":"gap""#))
        #expect(!broken.errors.contains("gap of"))
        try await line.stop()
        try await server.stop()
    }
}
