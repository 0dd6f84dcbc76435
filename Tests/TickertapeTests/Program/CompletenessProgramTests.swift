import Market
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire

/// The completeness of recordings, as users see it.
@Suite("The completeness of a recording, from outside", .serialized)
struct CompletenessProgramTests {
    private static let hour: Int64 = 1_787_626_800_000_000_000

    /// Writes a recording of one symbol's trades over three hours, one a frame.
    private func record(_ venue: Venue, _ symbol: String, in folder: TemporaryFolder) throws -> String {
        var symbols = SymbolTable()
        let interned = symbols.intern(symbol)
        let number = try #require(interned)
        let dialect: FrameDialect =
            switch venue {
            case .binance: .binance
            case .coinbase: .coinbase
            case .kraken: .kraken
            }
        var writer = try RecordingWriter(
            names: SegmentNames(first: "\(folder.path)/\(dialect.name).jsonl"),
            header: RecordingHeader(
                version: RecordingHeader.dialectVersion,
                program: "test",
                symbols: [symbol],
                start: Self.hour,
                epoch: 1,
                source: "live"
            ),
            monotonic: 0,
            settings: RecorderSettings(),
            disk: SystemDisk()
        )
        // Binance and Kraken have milliseconds and microseconds.
        let unit: Int64 = venue == .binance ? 1_000_000 : 1_000
        for id in 1...3_000 as ClosedRange<UInt64> {
            let trade = Trade(
                price: try #require(ExactDecimal(significand: Int64(618_300 + id % 100), exponent: -Int(id % 3))),
                size: try #require(ExactDecimal(significand: Int64(id * 100), exponent: -8)),
                exchangeTime: Self.hour + (Int64(id) * 3_457_123_457) / unit * unit,
                symbol: number,
                id: 3_735_683_258 + id
            )
            let frame =
                switch venue {
                case .binance: BinanceEncoder.trade(trade, symbols: symbols)
                case .coinbase: CoinbaseEncoder.match(trade, symbols: symbols)
                case .kraken: KrakenEncoder.trades([trade], symbols: symbols) { _ in "BTC/USD" }
                }
            let at = Int64(id) * 3_457_000_000
            writer.append(
                frame: frame,
                of: dialect,
                received: Self.hour + at,
                monotonic: at,
                numbers: RecordedNumbers(first: id, count: 1),
                epoch: 1
            )
        }
        writer.close(wall: Self.hour + 11_000_000_000_000, monotonic: 11_000_000_000_000)
        return writer.path
    }

    @Test(
        "is verified, and the documentation's Python makes the same hashes",
        arguments: [(Venue.binance, "BINANCE:BTCUSDT"), (.coinbase, "COINBASE:BTC-USD"), (.kraken, "KRAKEN:XXBTZUSD")]
    )
    func python(_ venue: Venue, _ symbol: String) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try self.record(venue, symbol, in: folder)
        let verify = try RunningProgram(RunningProgram.tickertape, ["recording", "verify", path])
        #expect(await verify.ending() == .exit(0), "\(verify.errors)")
        let hours = verify.output.split(separator: "\n").filter { $0.hasPrefix("    \(symbol) ") }
        #expect(hours.count == 3, "\(verify.output)")
        #expect(verify.output.contains("the recorder's 3 lines about that agree"), "\(verify.output)")
        #expect(hours.first?.contains("03:00:00Z: ids 3735683259 to ") == true)

        let scripts = try Self.scripts()
        try #require(scripts.count == 2)
        #expect(scripts[0].split(separator: "\n").count <= 10)
        let export = try RunningProgram(RunningProgram.tickertape, ["export", "--jsonl", path])
        #expect(await export.ending() == .exit(0), "\(export.errors)")
        let exported = try folder.write(export.output, to: "export.jsonl")
        for line in try await Self.printed(scripts[0], exported, in: folder, hours: hours) {
            #expect(line.first == "\(symbol)" && line[5] == "0", "\(line)")
            let hour = try #require(hours.first { $0.hasSuffix("sha256 \(line[6])") }, "\(line)")
            #expect(hour.contains("ids \(line[2]) to \(line[3]), \(line[4]) trades, \(line[5]) missing"), "\(hour)")
        }
        for line in try await Self.printed(scripts[1], path, in: folder, hours: hours) {
            let hour = try #require(hours.first { $0.hasSuffix("sha256 \(line[4])") }, "\(line)")
            #expect(hour.contains("ids \(line[1]) to \(line[2]), \(line[3]) trades, 0 missing"), "\(hour)")
        }
        let json = try RunningProgram(RunningProgram.tickertape, ["recording", "verify", "--json", path])
        #expect(await json.ending() == .exit(0))
        #expect(json.output.contains(#""reported":3,"uncompared":0,"differences":[]}"#), "\(json.output)")
    }

    /// The Python of `docs/venues.md`.
    private static func scripts() throws -> [String] {
        let page = try TemporaryFolder.text(of: "\(RunningProgram.sources)/docs/venues.md")
        var rest = page[...]
        var scripts: [String] = []
        while let start = rest.firstRange(of: "```python\n")?.upperBound {
            let end = try #require(rest[start...].firstRange(of: "```")?.lowerBound)
            scripts.append(String(rest[start..<end]))
            rest = rest[end...].dropFirst(3)
        }
        return scripts
    }

    /// Runs a script with a file, and returns the words of its lines, one for each hour.
    private static func printed(
        _ script: String,
        _ file: String,
        in folder: TemporaryFolder,
        hours: [Substring]
    ) async throws -> [[Substring]] {
        let path = try folder.write(script, to: "hours.py")
        let python = try RunningProgram("/usr/bin/env", ["python3", path, file])
        #expect(await python.ending() == .exit(0), "\(python.errors)")
        let lines = python.output.split(separator: "\n").map { $0.split(separator: " ") }
        #expect(lines.count == hours.count, "\(python.output)")
        return lines
    }

    @Test("that differs from its lines ends the check with 1 and says what differs")
    func differs() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try self.record(.binance, "BINANCE:BTCUSDT", in: folder)
        let text = try TemporaryFolder.text(of: path)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
            guard line.contains(#"\"t\":3735683300,"#) else { return String(line) }
            let other = line.replacing(#"\"q\":\"0.00004200\""#, with: #"\"q\":\"0.00004300\""#)
            return String(other.dropLast(18) + "}").sealed
        }
        let changed = try folder.write(lines.joined(separator: "\n"), to: "changed.jsonl")
        let verify = try RunningProgram(RunningProgram.tickertape, ["recording", "verify", changed])
        #expect(await verify.ending() == .exit(1))
        #expect(
            verify.output.contains("BINANCE:BTCUSDT, hour of 2026-08-25T03:00:00Z: SHA-256 "),
            "\(verify.output)"
        )
        #expect(verify.errors.contains("are not those of the completeness lines"), "\(verify.errors)")
    }
}
