import Market
import NIOCore
import Testing
import TickertapeTesting
import Wire

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A whole recording through reader, parser and encoder: the bundled one, or the file that `TICKERTAPE_RECORDING`
/// names.
@Suite struct DigitsTests {
    private var path: String {
        if let path = getenv("TICKERTAPE_RECORDING") { return String(cString: path) }
        let here = #filePath.split(separator: "/").dropLast(3)
        return "/" + here.joined(separator: "/") + "/Sources/Tickertape/Resources/demo.jsonl"
    }

    @Test("every trade frame comes out of parser and encoder byte for byte")
    func unchanged() throws {
        let file = try #require(fopen(self.path, "rb"))
        defer { fclose(file) }
        var reader = RecordingParser()
        var parser = FinnhubParser()
        var symbols = SymbolTable()
        var trades: [Trade] = []
        var frames = 0
        var pings = 0
        var isAtEnd = false
        var chunk = [UInt8](repeating: 0, count: 10_007)
        while !isAtEnd {
            let count = fread(&chunk, 1, chunk.count, file)
            isAtEnd = count == 0
            if isAtEnd { reader.finish() } else { reader.feed(ByteBuffer(bytes: chunk[..<count])) }
            while let event = reader.nextEvent() {
                guard case .frame(let recorded) = event else {
                    guard case .header = event else {
                        Issue.record("\(event)")
                        return
                    }
                    continue
                }
                let first = trades.count
                switch parser.parse(recorded.frame, symbols: &symbols, into: &trades) {
                case .trade(_, skipped: 0):
                    var encoded = ByteBuffer()
                    FinnhubEncoder.trade(trades[first...], symbols: symbols, into: &encoded)
                    guard encoded == recorded.frame else {
                        Issue.record("line \(recorded.line): \(String(buffer: encoded))")
                        return
                    }
                    frames += 1
                case .ping: pings += 1
                case let other: Issue.record("line \(recorded.line): \(other)")
                }
            }
        }
        #expect(frames > 500)
        #expect(trades.count > 5_000)
        if getenv("TICKERTAPE_RECORDING") != nil { print("\(frames) frames, \(trades.count) trades, \(pings) pings") }
    }
}
