import NIOCore
import Testing
@testable import Relay

@Suite("Lines: LineSplitter")
struct LineSplitterTests {
    /// Feeds the input in two parts, and returns the lines; `TOO LONG` for the end.
    private static func lines(_ input: [UInt8], cutAt place: Int) -> [String] {
        var splitter = LineSplitter()
        var lines: [String] = []
        for part in [input[..<place], input[place...]] {
            var bytes = ByteBuffer(bytes: part)
            while let piece = splitter.next(&bytes) {
                switch piece {
                case .line(let line): lines.append(String(buffer: line))
                case .tooLong: lines.append("TOO LONG")
                }
            }
        }
        if let rest = splitter.takeRest() { lines.append("REST \(String(buffer: rest))") }
        return lines
    }

    @Test("the lines are the same at every split, with LF, with CR LF, and without an end")
    func everySplit() {
        let input = Array("prices A\r\n\ntrades B\r\nhé\nquit\r".utf8)
        let expected = ["prices A", "", "trades B", "hé", "REST quit"]
        for place in 0...input.count { #expect(Self.lines(input, cutAt: place) == expected, "cut at \(place)") }
    }

    @Test("a line of 1,024 bytes is a line, with CR too, and one of 1,025 is too long, at every split")
    func limit() {
        let longest = [UInt8](repeating: UInt8(ascii: "x"), count: LineSplitter.maximumBytes)
        let line = String(decoding: longest, as: UTF8.self)
        for (end, expected) in [
            ("\n", [line]), ("\r\n", [line]), ("x\n", ["TOO LONG"]), ("x\r\n", ["TOO LONG"]), ("xx", ["TOO LONG"]),
        ] {
            let input = longest + Array(end.utf8)
            for place in 0...input.count {
                #expect(Self.lines(input, cutAt: place) == expected, "\(end.debugDescription) cut at \(place)")
            }
        }
    }

    @Test("1 MB without a line end holds 1 KiB and is too long once")
    func endless() {
        var splitter = LineSplitter()
        var pieces = 0
        for _ in 0..<2_048 {
            var bytes = ByteBuffer(repeating: UInt8(ascii: "x"), count: 512)
            while splitter.next(&bytes) != nil { pieces += 1 }
            #expect(splitter.start.readableBytes <= LineSplitter.maximumBytes + 1)
        }
        #expect(pieces == 1)
        #expect(splitter.takeRest() == nil)
    }
}
