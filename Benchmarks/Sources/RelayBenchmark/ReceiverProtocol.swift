import CLoad

/// A protocol of the relay's clients, with what a client sends to get all trades of the benchmark's symbol, or its prices.
enum ReceiverProtocol: String, CaseIterable {
    case finnhub = "/"
    case stream = "/v1/stream"
    case wampJSON = "wamp.2.json"
    case wampMessagePack = "wamp.2.msgpack"
    case wampCBOR = "wamp.2.cbor"
    case lines
    case linesJSON = "lines json"

    var number: receiver_protocol {
        switch self {
        case .finnhub: RECEIVER_FINNHUB
        case .stream: RECEIVER_STREAM
        case .wampJSON: RECEIVER_WAMP_JSON
        case .wampMessagePack: RECEIVER_WAMP_MSGPACK
        case .wampCBOR: RECEIVER_WAMP_CBOR
        case .lines: RECEIVER_LINES
        case .linesJSON: RECEIVER_LINES_JSON
        }
    }

    /// Whether it is lines over TCP, and no WebSocket.
    var isLines: Bool { self == .lines || self == .linesJSON }

    /// Whether its prices say how many trades they leave out.
    var countsSkipped: Bool { self != .finnhub && self != .lines }

    /// The handshake of a WebSocket.
    func request(port: Int, _ kind: ReceiverKind) -> [UInt8] {
        switch self {
        case .stream:
            let delivery = kind == .prices ? "latest" : "all"
            let path = "/v1/stream?symbol=\(TradeMessage.symbol)&delivery=\(delivery)"
            return WebSocketText.request(port: port, path: path)
        case .wampJSON, .wampMessagePack, .wampCBOR:
            return WebSocketText.request(port: port, path: "/wamp", subprotocol: self.rawValue)
        case .finnhub, .lines, .linesJSON:
            return WebSocketText.request(port: port, path: "/")
        }
    }

    /// The frame that opens a session of WAMP; `nil` in other protocols.
    var hello: [UInt8]? {
        switch self {
        case .wampJSON:
            WebSocketText.clientFrame(opcode: 0x1, Array(#"[1,"tickertape",{"roles":{"subscriber":{}}}]"#.utf8))
        case .wampMessagePack:
            WebSocketText.clientFrame(
                opcode: 0x2,
                [0x93, 0x01, 0xAA] + "tickertape".utf8 + [0x81, 0xA5] + "roles".utf8 + [0x81, 0xAA]
                    + "subscriber".utf8 + [0x80]
            )
        case .wampCBOR:
            WebSocketText.clientFrame(
                opcode: 0x2,
                [0x83, 0x01, 0x6A] + "tickertape".utf8 + [0xA1, 0x65] + "roles".utf8 + [0xA1, 0x6A]
                    + "subscriber".utf8 + [0xA0]
            )
        case .finnhub, .stream, .lines, .linesJSON: nil
        }
    }

    /// The subscription; `nil` where the handshake contains it.
    func subscribe(_ kind: ReceiverKind) -> [UInt8]? {
        let command = kind == .prices ? "prices" : "trades"
        let topic = "tickertape.\(kind == .prices ? "price" : "trades").\(TradeMessage.symbol)"
        switch self {
        case .finnhub: return WebSocketText.subscribe(TradeMessage.symbol)
        case .stream: return nil
        case .wampJSON: return WebSocketText.clientFrame(opcode: 0x1, Array(#"[32,1,{},"\#(topic)"]"#.utf8))
        case .wampMessagePack:
            let text = [0xD9, UInt8(topic.utf8.count)] + topic.utf8
            return WebSocketText.clientFrame(opcode: 0x2, [0x94, 0x20, 0x01, 0x80] + text)
        case .wampCBOR:
            let text = [0x78, UInt8(topic.utf8.count)] + topic.utf8
            return WebSocketText.clientFrame(opcode: 0x2, [0x84, 0x18, 0x20, 0x01, 0xA0] + text)
        case .lines: return Array("\(command) \(TradeMessage.symbol)\n".utf8)
        case .linesJSON: return Array("\(command) \(TradeMessage.symbol) json\n".utf8)
        }
    }
}

/// What a client expects.
enum ReceiverKind: CaseIterable {
    /// Every trade.
    case trades
    /// Every trade, but it reads nothing while trades are sent.
    case slow
    /// The newest price, with the number of trades that were left out.
    case prices

    var number: receiver_kind {
        switch self {
        case .trades: RECEIVER_TRADES
        case .slow: RECEIVER_SLOW
        case .prices: RECEIVER_PRICES
        }
    }
}
