import NIOCore
import Testing
import Wire
@testable import Measurements
@testable import Relay

@Suite("Times that a hostile exchange may send")
struct HostileTimesTests {
    @Test("no time of the exchange ends the program", arguments: [Int64.min, -1, 0, 1 << 62, Int64.max])
    func survives(exchangeTime: Int64) throws {
        let book = LatencyBook(clocks: .compared)
        for read in 0..<200 {
            let now = Int64(read) * 1_000_000_000
            _ = book.arrived(exchangeTime: exchangeTime, received: 1_795_239_062_000_000_000 + now, now: now)
        }
        #expect(try #require(book.report.rows.first).summary.count == 200)
        let json = String(buffer: JSONWriter.line { StatusAnswers.latency(book.report, to: &$0) })
        #expect(!json.contains("-"))
    }
}
