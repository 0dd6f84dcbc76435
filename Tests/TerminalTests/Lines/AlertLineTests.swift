import Market
import NIOCore
import Testing
import TickertapeTesting
import Wire
@testable import Terminal

@Suite("Alerts among the lines")
struct AlertLineTests {
    @Test("an alert is one line on standard error with its call, or one more object")
    func lines() {
        var plain = LineFormat(.plain, status: sampleStatus())
        let reported = plain.lines(.alert(sampleAlert(), call: [7]), now: 0)
        #expect(reported.output.isEmpty)
        #expect(
            String(decoding: reported.errors, as: UTF8.self)
                == "alert: 2026-01-01T00:00:00.147Z BINANCE:BTCUSDT: 60001.5 is above 60000 (BINANCE:BTCUSDT above 60000)\n\u{07}"
        )
        var json = LineFormat(.json, status: sampleStatus())
        let message = json.lines(.alert(sampleAlert(), call: [7]), now: 0)
        #expect(message.errors.isEmpty)
        let object = String(buffer: AlertText.json(sampleAlert()))
        #expect(String(decoding: message.output, as: UTF8.self) == object.dropLast() + ",\"source\":\"live\"}\n")
    }
}
