import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire

@Suite("Halves of a recording, cut by symbols")
struct SymbolHalvesTests {
    /// Returns batches of many frames with one arrival each; in each batch the seventh frame repeats the
    /// second, without numbers.
    private static func recording() -> String {
        var text = ByteBuffer()
        RecordingSyntax.header(MarketText.header(), into: &text)
        var number: UInt64 = 0
        var sequence: UInt64 = 1
        for read in 0..<10 {
            let at = Int64(read) * 1_000_000_000
            for place in 0..<20 {
                number += 1
                let stamp = RecordingSyntax.Stamp(number: number, wall: 1_767_225_600_000_000_000 + at, at: at)
                let isAgain = place == 6
                // Few frames of one symbol, many of the other.
                let symbol = MarketText.symbols[place == 0 || place == 15 ? 0 : 1]
                let price = isAgain ? sequence - 5 : sequence
                RecordingSyntax.frame(
                    ByteBuffer(
                        string: #"{"data":[{"c":null,"p":\#(price),"s":"\#(symbol)","t":1767225600000,"v":1}],"#
                            + #""type":"trade"}"#
                    ),
                    stamp,
                    numbers: isAgain ? nil : RecordedNumbers(first: sequence, count: 1),
                    into: &text
                )
                if !isAgain { sequence += 1 }
            }
        }
        return String(buffer: text)
    }

    @Test("are merged in the order of the tape, within a batch too")
    func merged() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write(Self.recording(), to: "a.jsonl")
        var halves: [String] = []
        for symbol in MarketText.symbols.prefix(2) {
            var cut = RecordingEdits.Cut()
            cut.symbols = [symbol]
            halves.append("\(folder.path)/\(symbol.suffix(7))")
            _ = try RecordingEdits.cut(path, cut, to: halves[halves.count - 1], form: .current)
        }
        for order in [halves, halves.reversed()] {
            let target = "\(folder.path)/merged-\(order == halves)"
            let result = try RecordingEdits.merge(order, to: target, form: .current)
            #expect(result.frames == 200, "\(result)")
            var numbers: [UInt64] = []
            // How many numbers lie between a frame and its repetition.
            var between: [Int] = []
            var places: [ByteBuffer: Int] = [:]
            let stream = try RecordingStream(path: target, followsSegments: false)
            while let line = try stream.next() {
                guard case .frame(let bytes, let known, _) = line.content else { continue }
                if let known {
                    places[bytes] = numbers.count
                    numbers.append(known.first)
                } else {
                    between.append(numbers.count - (places[bytes] ?? .min / 2))
                }
            }
            #expect(numbers == Array(1...190))
            #expect(between.count == 10 && between.allSatisfy { $0 <= 6 }, "\(between)")
        }
    }
}
