import NIOCore
import Testing
import Wire
@testable import Measurements

@Suite struct AuditReportTests {
    private func symbol(delivered: Int, missing: Int, inGaps: Int = 0) -> AuditedSymbol {
        var symbol = AuditedSymbol(symbol: "KRAKEN:XXBTZUSD")
        symbol.delivered = delivered
        symbol.missing = missing
        symbol.missingInGaps = inGaps
        symbol.span = 1_723_161_255_342...1_723_161_905_800
        return symbol
    }

    @Test("the share is cut, so that only a complete one is 100 %, and gaps are no part of it")
    func share() {
        #expect(self.symbol(delivered: 9_999_999, missing: 1).shareText == "99.999 %")
        #expect(self.symbol(delivered: 7, missing: 0, inGaps: 3).shareText == "100 %")
        #expect(self.symbol(delivered: 0, missing: 5).shareText == "0.000 %")
        #expect(self.symbol(delivered: 2, missing: 1).shareText == "66.666 %")
        #expect(self.symbol(delivered: .max - 1, missing: 1).share != nil)
        #expect(self.symbol(delivered: 0, missing: 0).shareText == nil)
    }

    @Test("a report without a compared trade is not complete, and neither is one with a loss")
    func complete() {
        #expect(!AuditReport().isComplete)
        #expect(!AuditReport(symbols: [self.symbol(delivered: 0, missing: 0)]).isComplete)
        #expect(AuditReport(symbols: [self.symbol(delivered: 1, missing: 0)]).isComplete)
        #expect(!AuditReport(symbols: [self.symbol(delivered: 1, missing: 0, inGaps: 1)]).isComplete)
        #expect(!AuditReport(symbols: [self.symbol(delivered: 1, missing: 1)]).isComplete)
    }

    @Test("lines and JSON have what was found")
    func texts() {
        var symbol = self.symbol(delivered: 1_999, missing: 1, inGaps: 4)
        symbol.gaps = 2
        symbol.missingIDs = [7...7]
        symbol.delay = LatencyHistogram.Summary(
            count: 9,
            median: 84_000_000,
            percentile99: 210_000_000,
            maximum: 900_000_000
        )
        #expect(
            symbol.lines == [
                "KRAKEN:XXBTZUSD: 99.950 % delivered, 1999 of 2000 trades, from 2024-08-08T23:54:15.342Z to "
                    + "2024-08-09T00:05:05.800Z",
                "missing: 1, ids 7",
                "in Finnhub's own gaps: 4 more missing, gaps: 2",
                "delay after the venue, ms p50/p99/max: 84/210/900",
            ]
        )
        #expect(symbol.shortText == "99.950 % of 2000, 1 missing, 4 in gaps, delay 84/210 ms")
        var report = AuditReport(symbols: [symbol])
        report.trouble = "reconnecting: refused"
        let json = String(buffer: JSONWriter.object { report.write(to: &$0) })
        #expect(
            json.hasPrefix(
                #"{"complete":false,"trouble":"reconnecting: refused","symbols":[{"symbol":"KRAKEN:XXBTZUSD","from":1"#
            )
        )
        #expect(json.contains(#""percent":99.950,"missing":1,"missingIDs":[{"first":"7","last":"7","count":"1"}],"#))
        #expect(json.hasSuffix(#""waiting":0,"delay":{"count":9,"p50":84.000,"p99":210.000,"max":900.000}}]}"#))
    }
}
