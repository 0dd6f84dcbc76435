import Market
import Testing
import Wire

@Suite struct KrakenParserTests {
    private func parse(_ text: String) -> (VenueMessage, [String]) { VenueParsing.parse(text, .kraken) }

    @Test("an update gives its trades with the tape's names, in the frame's order")
    func update() {
        let (message, trades) = self.parse(
            #"{"channel":"trade","type":"update","data":[{"symbol":"BTC/USD","side":"buy","price":83744.3,"qty":0.00044780,"ord_type":"limit","trade_id":109116693,"timestamp":"2026-09-25T17:48:26.844359Z"},{"symbol":"SOL/USD","side":"sell","price":142,"qty":10,"ord_type":"market","trade_id":7,"timestamp":"2026-09-25T17:48:26.844360Z"},{"symbol":"DOGE/USD","side":"sell","price":0.1,"qty":12345678.5,"ord_type":"market","trade_id":8,"timestamp":"2026-09-25T17:48:26.844360Z"}]}"#
        )
        #expect(message == .trades(skipped: 0))
        #expect(
            trades == [
                "KRAKEN:XXBTZUSD 109116693 83744.3 0.0004478 1790358506844359000",
                "KRAKEN:SOLUSD 7 142 10 1790358506844360000", "KRAKEN:XDGUSD 8 0.1 12345678.5 1790358506844360000",
            ]
        )
    }

    @Test("a snapshot's trades are from before the subscription, in whatever order the keys come")
    func snapshot() {
        let (message, trades) = self.parse(
            #"{"data":[{"symbol":"ETH/BTC","price":1.5e-2,"qty":4.4E-8,"trade_id":1,"timestamp":"2026-09-25T17:48:26Z"},7,{"symbol":"ETH/BTC"}],"type":"snapshot","channel":"trade"}"#
        )
        #expect(message == .trades(skipped: 2))
        #expect(trades == ["KRAKEN:XETHXXBT 1 0.015 0.000000044 1790358506000000000 filled"])
        #expect(self.parse(#"{"channel":"trade","type":"snapshot","data":[]}"#) == (.trades(skipped: 0), []))
    }

    @Test("a frame of many trades is read whole")
    func many() {
        let elements = (1...500).map {
            #"{"symbol":"BTC/USD","side":"buy","price":83744.3,"qty":0.5,"ord_type":"limit","trade_id":\#($0),"timestamp":"2026-09-25T17:48:26.844359Z"}"#
        }
        let (message, trades) = self.parse(
            #"{"channel":"trade","type":"snapshot","data":[\#(elements.joined(separator: ","))]}"#
        )
        #expect(message == .trades(skipped: 0))
        #expect(trades == (1...500).map { "KRAKEN:XXBTZUSD \($0) 83744.3 0.5 1790358506844359000 filled" })
    }

    @Test(
        "a number that is no trade's is skipped",
        arguments: [
            ("0", "1"), ("-1", "1"), ("1", "0"), ("1", "0.00000000"), ("1", "-1"), ("\"1\"", "1"), ("1", "null"),
            ("1", "1e-19"),
            ("1e18", "1"), ("1234567890123456789", "1"),
        ]
    )
    func skipped(price: String, size: String) {
        let frame =
            #"{"channel":"trade","type":"update","data":[{"symbol":"BTC/USD","side":"buy","price":\#(price),"qty":\#(size),"ord_type":"limit","trade_id":109116693,"timestamp":"2026-09-25T17:48:26.844359Z"}]}"#
        #expect(self.parse(frame) == (.trades(skipped: 1), []))
    }

    private func service(_ members: String) -> VenueServiceState? {
        let frame = #"{"channel":"status","type":"update","data":[{"version":"2.0.10",\#(members)}]}"#
        guard case .service(let state) = self.parse(frame).0 else { return nil }
        return state
    }

    @Test(
        "a state of the engine in which nothing trades is said with its end, and a state that is not known as it stands",
        arguments: [
            ("maintenance", "Kraken is down for maintenance"),
            ("cancel_only", "Kraken only cancels orders and makes no trades"),
            ("post_only", "Kraken only takes orders that wait (post-only) and makes no trades"),
        ]
    )
    func halted(_ system: String, _ words: String) {
        let text = "\(words); no cure is needed, and trades come again when it is over"
        #expect(self.service(#""system":"\#(system)""#) == VenueServiceState(isHalted: true, text: text))
        #expect(self.service(#""system":"online""#) == VenueServiceState())
        #expect(
            self.service(#""system":"odd\u001b[1m""#)?.text?.hasPrefix("Kraken's trading engine is in the state odd")
                == true
        )
        #expect(self.service(#""system":7"#) == VenueServiceState())
    }

    private static let window =
        #"{"event_id":4711,"title":"Planned\u0007 upgrade","expected_start_utc":"2026-11-28T08:00:00Z","#
        + #""expected_end_utc":"2026-11-28T09:30:00Z","time_to_start_s":3600,"phase":"reminder_24h","#
        + #""affected_services":["spot_ws","spot_trading","futures_ws"],"order_submission":"allowed","#
        + #""recommended_action":"disconnect_and_wait","cancel_before_utc":null,"source_url":"https://status.kraken.com"}"#

    @Test("announced maintenance is said with its services and times, once for all of its phases")
    func maintenance() {
        let first = self.service(#""system":"online","upcoming_maintenance":[\#(Self.window)],"emergency":[]"#)
        #expect(first?.isHalted == false)
        #expect(
            first?.text?.hasPrefix(
                "Kraken has announced maintenance (WebSocket, trading) from 2026-11-28 08:00 UTC to 2026-11-28 09:30 UTC: "
                    + "Planned"
            ) == true,
            "\(first?.text ?? "")"
        )
        #expect(first?.text?.contains("\u{7}") == false)
        let later = Self.window.replacing("reminder_24h", with: "imminent_5m").replacing("3600", with: "300")
        #expect(self.service(#""system":"online","upcoming_maintenance":[\#(later)]"#) == first)
    }

    @Test("an incident is said with its impact, and of many advisories the first two")
    func incidents() {
        let incident =
            #"{"event_id":1,"title":"Slow","impact":"major","affected_services":["all"],"started_at_utc":"x"}"#
        #expect(
            self.service(#""system":"online","emergency":[\#(incident)]"#)?.text
                == "Kraken has an incident of major impact (all services): Slow"
        )
        let open = self.service(#""upcoming_maintenance":[{},{"expected_start_utc":"soon"},{}]"#)
        #expect(
            open?.text == "Kraken has announced maintenance; Kraken has announced maintenance from soon; and 1 more"
        )
    }

    @Test(
        "maintenance of other services is not said, and lists of another form say nothing",
        arguments: [
            #"[{"title":"x","affected_services":["futures_ws","spot_fix"]}]"#, "null", "7", #"["x"]"#, "{}", "[[]]",
        ]
    )
    func others(_ list: String) {
        #expect(self.service(#""upcoming_maintenance":\#(list),"system":"online""#) == VenueServiceState())
    }

    @Test("heartbeats, answers and errors say what they are")
    func others() {
        let messages: [(String, VenueMessage)] = [
            (#"{"channel":"heartbeat"}"#, .alive),
            (
                #"{"channel":"status","type":"update","data":[{"version":"2.0.10","system":"online","api_version":"v2","connection_id":18125794168470749634,"upcoming_maintenance":[],"emergency":[]}]}"#,
                .service(VenueServiceState())
            ),
            (
                #"{"method":"subscribe","result":{"channel":"trade","snapshot":false,"symbol":"BTC/USD"},"success":true,"time_in":"2026-09-25T17:48:24.745996Z","time_out":"2026-09-25T17:48:24.746032Z"}"#,
                .subscribed(["KRAKEN:XXBTZUSD"])
            ),
            (
                #"{"method":"unsubscribe","result":{"channel":"trade","symbol":"SOL/USD"},"success":true,"req_id":9}"#,
                .unsubscribed(["KRAKEN:SOLUSD"])
            ),
            (
                #"{"method":"subscribe","result":{"channel":"book"},"success":true,"req_id":9}"#,
                .acknowledged(request: 9)
            ),
            (
                #"{"method":"pong","req_id":42,"time_in":"2023-09-25T09:05:00.123456Z","time_out":"2023-09-25T09:05:00.123500Z"}"#,
                .alive
            ),
            (
                #"{"error":"Currency pair not supported XBT/USD","method":"subscribe","success":false,"symbol":"XBT/USD","time_in":"2026-09-25T17:48:54.701041Z","time_out":"2026-09-25T17:48:54.701062Z"}"#,
                .refused(symbol: "KRAKEN:XBTUSD", text: "Currency pair not supported XBT/USD")
            ),
            (
                #"{"error":"Subscription depth not supported","method":"subscribe","success":false,"time_in":"2026-08-16T23:54:19.629313Z","time_out":"2026-08-16T23:54:19.629343Z"}"#,
                .refused(symbol: nil, text: "Subscription depth not supported")
            ),
            (
                #"{"error":"Subscription Not Found","method":"unsubscribe","success":false}"#,
                .error("Subscription Not Found")
            ),
            (#"{"error":"Malformed request"}"#, .error("Malformed request")),
            (#"{"channel":"trade","type":"other","data":[]}"#, .other),
            (#"{"channel":"book","type":"update","data":[{}]}"#, .other),
            (#"{"channel":"trade","type":"update","data":null}"#, .other), ("{}", .other),
            ("[993,[],\"trade\"]", .malformed),
            (#"{"channel":"trade","type":"update","data":[{},]}"#, .malformed),
        ]
        for (frame, message) in messages { #expect(self.parse(frame) == (message, []), "\(frame)") }
    }
}
