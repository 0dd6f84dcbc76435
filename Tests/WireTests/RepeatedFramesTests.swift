import Market
import NIOCore
import Testing
import Wire

@Suite("Frames that come again")
struct RepeatedFramesTests {
    private static func frame(_ number: Int, trades: Int = 10) -> ByteBuffer {
        let elements = (0..<trades).map { _ in
            #"{"c":null,"p":10,"s":"A","t":\#(1_723_161_255_000 + number),"v":\#(number)}"#
        }
        return ByteBuffer(string: #"{"data":[\#(elements.joined(separator: ","))],"type":"trade"}"#)
    }

    @Test("are known for two seconds since they came last, among as many others as are remembered")
    func window() {
        var frames = RepeatedFrames()
        #expect(frames.isRepeat(Self.frame(0), now: 0) == false)
        for number in 1..<RepeatedFrames.remembered { #expect(frames.isRepeat(Self.frame(number), now: 0) == false) }
        #expect(frames.isRepeat(Self.frame(0), now: 1_500_000_000) == true)
        #expect(frames.isRepeat(Self.frame(0), now: 3_500_000_000) == true)
        #expect(frames.isRepeat(Self.frame(0), now: 5_500_000_001) == false)
        for number in 1...RepeatedFrames.remembered {
            _ = frames.isRepeat(Self.frame(100 + number), now: 6_000_000_000)
        }
        #expect(frames.isRepeat(Self.frame(0), now: 6_000_000_000) == false)
    }

    @Test("are equal byte for byte: one that differs anywhere is another one, and times that go back make none")
    func equality() {
        let text = Self.frame(3)
        for place in 0..<text.readableBytes {
            var frames = RepeatedFrames()
            var other = text
            other.setInteger(UInt8(ascii: "~"), at: place)
            #expect(!frames.isRepeat(text, now: 5) && !frames.isRepeat(other, now: 5), "\(place)")
            #expect(frames.isRepeat(text, now: 5) && frames.isRepeat(other, now: 5), "\(place)")
            #expect(frames.isRepeat(text, now: 4) == false)
        }
        var frames = RepeatedFrames()
        for time in [Int64.max, .min, 0] { #expect(frames.isRepeat(text, now: time) == false) }
        frames.reset()
        #expect(frames.isRepeat(text, now: .max) == false)
    }

    @Test("of a recording are those that it says, by places in the text; without numbers those that came again")
    func recorded() throws {
        var reader = FrameReader()
        var symbols = SymbolTable()
        var trades: [Trade] = []
        _ = reader.read(Self.frame(1, trades: 4), of: .finnhub, symbols: &symbols, into: &trades)
        var repeats = RecordedRepeats()
        var frame = RecordedFrame(line: 1, at: 0, frame: Self.frame(1, trades: 4))
        frame.numbers = RecordedNumbers(first: 9, count: 3, leftOut: [1], possibleRepeats: [3], ahead: [2])
        #expect(repeats.mark(&trades, of: frame) == frame.numbers)
        #expect(trades.map { $0.marks.contains(.possibleRepeat) } == [false, true, false, true])
        let numbered = try #require(frame.numberedTrades(&reader, symbols: &symbols))
        #expect(numbered.map(\.sequence) == [9, 10, 11])
        #expect(numbered.map(\.trade.marks) == [[], .ahead, .possibleRepeat])
        frame.numbers = nil
        trades = trades.map { Trade(price: $0.price, size: $0.size, exchangeTime: 0, symbol: $0.symbol) }
        #expect(repeats.mark(&trades, of: frame) == nil && trades.allSatisfy { $0.marks == .possibleRepeat })
        // Numbers that do not fit the frame's text mark no trade.
        frame.at = 9_000_000_000
        frame.numbers = RecordedNumbers(first: 9, count: 4, possibleRepeats: [4])
        trades = trades.map { Trade(price: $0.price, size: $0.size, exchangeTime: 0, symbol: $0.symbol) }
        #expect(repeats.mark(&trades, of: frame) == nil && trades.allSatisfy { $0.marks.isEmpty })
    }
}
