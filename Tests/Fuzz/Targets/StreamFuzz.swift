import Market
import NIOCore
import Wire

/// The rules for the readers of `/v1/stream`'s messages, in both directions.
enum StreamFuzz {
    static let seeds: [[UInt8]] = [
        #"{"type":"subscribe","symbol":"BINANCE:BTCUSDT"}"#, #"{"type":"subscribe","symbols":["A","B\u0041"]}"#,
        #"{"type":"unsubscribe","symbols":[]}"#, #"{"type":"other","x":[{"y":null}]}"#,
        #"{"type":"price","symbol":"BINANCE:BTCUSDT","price":"1.5","size":"2","time":1721555886208,"received":1721555886210123,"epoch":1,"seq":2,"count":3,"suppressed":0,"volume":"3.5","high":"2","low":"1"}"#,
        #"{"type":"status","state":"rate-limited","until":1721555886208,"since":1721555886208,"source":"live","reason":"x"}"#,
        #"{"type":"status","state":"reconnecting","attempt":3,"retryAt":1721555886208,"source":"replay","file":"f","speed":2.5}"#,
        #"{"type":"gap","from":1721555886208,"to":1721555886209,"reason":"lost","nextSequence":5}"#,
        #"{"type":"error","msg":"no"}"#,
        #"{"type":"subscribe","symbols":["A"],"delivery":"every","every":"250ms","since":"7:12"}"#,
        #"{"type":"ping","id":{"a":[1,null]}}"#, #"{"type":"overflow","policy":"close"}"#,
        #"{"type":"hello","n":1,"epoch":7,"seq":3,"status":{"state":"live","since":1,"source":"live"},"symbols":[]}"#,
        #"{"type":"resumed","n":13,"epoch":7,"from":12,"to":17,"trades":5,"complete":true}"#,
        #"{"type":"frame","at":"1795239000000:14","frame":{"data":[],"type":"trade"}}"#,
        #"{"type":"position","at":"1795239000000:12"}"#, #"{"type":"resumed","complete":true}"#,
        #"{"type":"resume","symbols":["A","B\u0041"],"since":"18446744073709551615:18446744073709551615"}"#,
        #"{"type":"trade","n":9,"symbol":"A","seq":4,"price":"1.5","size":"2","time":1721555886208,"received":1721555886210123}"#,
        #"{"type":"settled","n":9,"symbol":"A","from":1000,"to":2000,"missing":{"first":"7","last":"9","count":"3"},"lost":[{"first":"8","last":"8","count":"1"}],"reason":"r"}"#,
        #"{"type":"venueDay","n":9,"symbol":"A","open":"1","high":"2.5","low":"1","last":"2","change":"1","volume":"0.5","received":1721555886210123}"#,
    ].map { Array($0.utf8) }

    static func check(_ input: [UInt8]) throws(FuzzFinding) -> Bool {
        let text = ByteBuffer(bytes: input)
        let isMessage =
            switch StreamMessage.parse(text) {
            case .hello, .snapshot, .price, .trades, .trade, .status, .gap, .settled, .venueDay, .resumed, .symbol,
                .released, .replay, .error:
                true
            case .unknown, .malformed: false
            }
        let isKnown = try self.checkResumption(text) || isMessage
        guard let request = StreamRequest.parse(text) else { return isKnown }
        switch request {
        case .replay(let text):
            let position = ReplayPosition(start: 0, end: 9_000_000_000, at: 1, speed: 1)
            _ = try? ReplayRequestText.parse(text, position: position)
        case .other, .faulty: return isKnown
        case .subscribe, .unsubscribe, .subscribeBars, .unsubscribeBars, .overflow, .ping: break
        }
        let back = StreamRequest.parse(request.encoded())
        try FuzzFinding.require(back == request, "\(request) written again is \(String(describing: back))")
        return true
    }

    /// Checks the messages and the request of a client of Finnhub's protocol that can resume; returns whether the text is
    /// one of them.
    private static func checkResumption(_ text: ByteBuffer) throws(FuzzFinding) -> Bool {
        var isKnown = false
        if let message = NumberedMessage.parse(text) {
            isKnown = true
            var out = ByteBuffer()
            message.write(into: &out)
            let back = NumberedMessage.parse(out)
            // A gap's times are in milliseconds there.
            if case .gap = message {
            } else {
                try FuzzFinding.require(back == message, "\(message) written again is \(String(describing: back))")
            }
        }
        if let request = FinnhubRequest.parse(text), case .resume = request {
            isKnown = true
            let back = FinnhubRequest.parse(request.encoded())
            try FuzzFinding.require(back == request, "\(request) written again is \(String(describing: back))")
        }
        return isKnown
    }
}
