import NIOCore
import Testing
import Wire

@Suite("The numbers in a recording's lines")
struct LineNumbersTests {
    private static let edges: [UInt64] = {
        var edges: [UInt64] = [0, .max, .max - 1]
        var power: UInt64 = 1
        for _ in 0..<20 {
            edges += [power - 1, power, power + 1]
            power = power.multipliedReportingOverflow(by: 10).partialValue
        }
        return edges
    }()

    @Test("are written to their last digit, whatever they are")
    func digits() {
        for number in Self.edges {
            for signed in [Int64(truncatingIfNeeded: number), -Int64(number / 4)] {
                var line = ByteBuffer()
                RecordingSyntax.frame(
                    ByteBuffer(string: "x"),
                    RecordingSyntax.Stamp(number: number, wall: signed, at: signed),
                    numbers: RecordedNumbers(first: number, count: Int(signed), leftOut: [0, 3]),
                    into: &line
                )
                let text = String(buffer: line)
                let wall = RecordingSyntax.microseconds(signed)
                #expect(
                    text.hasPrefix(
                        #"{"n":\#(number),"wall":\#(wall),"mono":\#(signed),"dir":"in","seq":\#(number),"#
                            + #""trades":\#(signed),"leftOut":[0,3],"frame":"x","crc":""#
                    ),
                    "\(text)"
                )
            }
        }
    }
}
