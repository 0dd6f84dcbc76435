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
        #"{"type":"trade","n":9,"symbol":"A","seq":4,"price":"1.5","size":"2","time":1721555886208,"received":1721555886210123}"#,
    ].map { Array($0.utf8) }

    static func check(_ input: [UInt8]) throws(FuzzFinding) -> Bool {
        let text = ByteBuffer(bytes: input)
        let isMessage =
            switch StreamMessage.parse(text) {
            case .hello, .snapshot, .price, .trades, .trade, .status, .gap, .resumed, .symbol, .released, .replay,
                .error:
                true
            case .unknown, .malformed: false
            }
        guard let request = StreamRequest.parse(text) else { return isMessage }
        switch request {
        case .replay(let text):
            let position = ReplayPosition(start: 0, end: 9_000_000_000, at: 1, speed: 1)
            _ = try? ReplayRequestText.parse(text, position: position)
        case .other, .faulty: return isMessage
        case .subscribe, .unsubscribe, .subscribeBars, .unsubscribeBars, .overflow, .ping: break
        }
        let back = StreamRequest.parse(request.encoded())
        try FuzzFinding.require(back == request, "\(request) written again is \(String(describing: back))")
        return true
    }
}
