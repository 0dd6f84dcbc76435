import WebSocket

extension Fault {
    /// A fault's name, form and meaning, as the help shows them.
    package struct Manual: Sendable {
        package var name: String
        /// The name with its value and its options.
        package var form: String
        package var meaning: String
    }

    /// All faults by name, in the order in which a connection meets them.
    package static let manual: [Manual] = [
        Manual("hang", "hang=tcp|tls|upgrade|data", "opens as far as that, then sends nothing, not even a ping"),
        Manual(
            "drop",
            "drop[=tcp|tls|upgrade|data]",
            "ends TCP there (FIN) without a close frame; data is the default"
        ),
        Manual("rst", "rst[=tcp|tls|upgrade|data]", "resets TCP there"),
        Manual("status", "status=CODE[,retry-after=SECONDS][,body=TEXT]", "answers the request with that status"),
        Manual("redirect", "redirect=URL[,status=CODE]", "answers with a redirect (302)"),
        Manual("html", "html[=CODE]", "answers with a page of HTML (200)"),
        Manual("close", "close=CODE[,reason=TEXT]", "closes the WebSocket"),
        Manual(
            "rotation",
            "rotation=AGE[,announced=TIME]",
            "closes at that age, announced that long before if the service does so"
        ),
        Manual("throw-out", "throw-out", "drops within a second of the open, as when the key is used elsewhere"),
        Manual("cut-frame", "cut-frame", "ends TCP in the middle of a frame"),
        Manual("half-open", "half-open", "sends and reads nothing any more, and never ends TCP"),
        Manual("stall", "stall[=SYMBOL]", "withholds trades (of that symbol); pings go on"),
        Manual("duplicate", "duplicate=P[,copies=N]", "sends a frame of trades twice (N times)"),
        Manual("reorder", "reorder=P", "sends a frame of trades after the next one"),
        Manual("withhold", "withhold=P", "leaves out a frame of trades for good"),
        Manual("late", "late=P[,frames=N]", "sends a frame of trades after the N next ones (10)"),
        Manual("garbage", "garbage=P", "sends a text that is not a message before a frame of trades"),
        Manual("broken-frame", "broken-frame", "sends bytes that are not a WebSocket frame"),
        Manual("huge", "huge=SIZE", "sends a message of that size (up to 16MB)"),
        Manual("error", "error=TEXT", "sends an error of the service"),
        Manual("slow", "slow=SIZE/s", "carries no more than that"),
        Manual("rest-lag", "rest-lag=TIME|COUNT[,share=P]", "a venue's REST service lags by that much"),
        Manual(
            "rest-status",
            "rest-status=CODE[,retry-after=SECONDS][,body=TEXT][,share=P]",
            "it answers a request for trades with that status"
        ),
        Manual("rest-html", "rest-html[=CODE][,share=P]", "it answers with a page of HTML (200)"),
        Manual("rest-cut", "rest-cut[,share=P]", "its connection ends after half of an answer"),
        Manual("rest-empty", "rest-empty[,share=P]", "it answers without trades"),
        Manual("rest-slow", "rest-slow=TIME[,share=P]", "it answers that much later (up to 60s)"),
        Manual("rest-narrow", "rest-narrow[,share=P]", "it has no historicalTrades, as Binance's host for market data"),
    ]

    /// Parses a fault such as `status=429,retry-after=30@1-3` or `drop@10s`.
    ///
    /// - Throws: ``FaultSyntaxError`` with the mistake and the right form, in one sentence.
    package init(_ text: String) throws(FaultSyntaxError) {
        var parts = try FaultText(text)
        guard let manual = Self.manual.first(where: { $0.name == parts.name }) else {
            let names = Self.manual.map(\.name).joined(separator: ", ")
            throw FaultSyntaxError("there is no fault \"\(parts.name)\"; the faults are \(names)")
        }
        self.init(try Self.kind(&parts, manual))
        if let option = parts.options.first {
            throw FaultSyntaxError("\(parts.name) has no option \"\(option.name)\"; write \(manual.form)")
        }
        for when in parts.whens { try self.take(when: when) }
        // The service was seen to close a key's second connection within this time, not always after the same time.
        if parts.name == "throw-out" {
            guard self.window == nil else {
                throw FaultSyntaxError("throw-out has a fixed time, the first second")
            }
            self.window = Window(from: 0, to: 1_000_000_000)
        }
        if case .rotation = self.kind, self.window != nil {
            throw FaultSyntaxError("rotation has its time as its value: \(manual.form)")
        }
        if self.nature == .opening, self.window != nil {
            throw FaultSyntaxError(
                "\(parts.name) here happens before the open, so it has connections (@1-3) but no time"
            )
        }
    }

    private static func kind(_ parts: inout FaultText, _ manual: Manual) throws(FaultSyntaxError) -> Kind {
        let wrong = FaultSyntaxError("write \(manual.form)")
        let value = parts.value
        func needed<Value>(_ value: Value?) throws(FaultSyntaxError) -> Value {
            guard let value else { throw wrong }
            return value
        }
        func stage(_ initial: Stage?) throws(FaultSyntaxError) -> Stage {
            guard let value else { return try needed(initial) }
            return try needed(Stage(rawValue: value))
        }
        func without(_ kind: Kind) throws(FaultSyntaxError) -> Kind {
            guard value == nil else { throw wrong }
            return kind
        }
        switch manual.name {
        case "hang": return .hang(try stage(nil))
        case "drop": return .cut(try stage(.data), isReset: false)
        case "rst": return .cut(try stage(.data), isReset: true)
        case "status", "redirect", "html": return .refuse(try Self.refusal(&parts, wrong))
        case "close":
            let code = try needed(value.flatMap { FaultNumber.count($0, within: 1_000...4_999) })
            guard WebSocketCloseCode(rawValue: UInt16(code)).mayBeSent else {
                throw FaultSyntaxError("\(code) is not allowed in a close frame; 1000, 1001, 1011 and 4000 are")
            }
            return .close(code: UInt16(code), reason: parts.take("reason") ?? "")
        case "throw-out": return try without(.cut(.data, isReset: false))
        case "cut-frame": return try without(.cutFrame)
        case "half-open": return try without(.halfOpen)
        case "broken-frame": return try without(.brokenFrame)
        case "stall":
            guard value != "" else { throw wrong }
            return .stall(symbol: value)
        case "duplicate":
            let copies = parts.take("copies")
            return .duplicate(
                try needed(value.flatMap(FaultNumber.probability)),
                copies: try copies.map { text throws(FaultSyntaxError) in
                    try needed(FaultNumber.count(text, within: 2...100))
                } ?? 2
            )
        case "withhold": return .withhold(try needed(value.flatMap(FaultNumber.probability)))
        case "late":
            let frames = parts.take("frames")
            return .late(
                try needed(value.flatMap(FaultNumber.probability)),
                frames: try frames.map { text throws(FaultSyntaxError) in
                    try needed(FaultNumber.count(text, within: 1...1_000))
                } ?? 10
            )
        case "rotation":
            let after = try needed(value.flatMap { FaultNumber.duration($0) })
            let announced = try parts.take("announced").map { text throws(FaultSyntaxError) in
                try needed(FaultNumber.duration(text).flatMap { $0 <= after ? $0 : nil })
            }
            return .rotation(after: after, announced: announced)
        case "reorder": return .reorder(try needed(value.flatMap(FaultNumber.probability)))
        case "garbage": return .garbage(try needed(value.flatMap(FaultNumber.probability)))
        case "huge": return .huge(bytes: try needed(value.flatMap { FaultNumber.bytes($0, within: 64...16_777_216) }))
        case "error":
            guard let value, !value.isEmpty else { throw wrong }
            return .error(value)
        case "slow":
            guard let value, value.hasSuffix("/s") else { throw wrong }
            return .slow(
                bytesPerSecond: try needed(FaultNumber.bytes(value.dropLast(2), within: 1...1_000_000_000))
            )
        case let name where name.hasPrefix("rest-"):
            let share = try parts.take("share").map { text throws(FaultSyntaxError) in
                try needed(FaultNumber.probability(text))
            }
            return .rest(try Self.rest(&parts, wrong), share: share ?? 1)
        default: preconditionFailure("the fault \(manual.name) is in the manual and cannot be read")
        }
    }

    /// The longest time by which answers of a REST service lag, ns.
    private static let longestLag: Int64 = 600_000_000_000
    /// The latest answer of a REST service, ns.
    private static let longestDelay: Int64 = 60_000_000_000

    private static func rest(_ parts: inout FaultText, _ wrong: FaultSyntaxError) throws(FaultSyntaxError) -> RestFault
    {
        let value = parts.value
        switch parts.name {
        case "rest-status", "rest-html": return .status(try Self.refusal(&parts, wrong))
        case "rest-lag":
            guard let value else { throw wrong }
            if let count = FaultNumber.count(value, within: 1...1_000_000) { return .behind(count) }
            guard let time = FaultNumber.duration(value), time > 0, time <= Self.longestLag else { throw wrong }
            return .lag(time)
        case "rest-slow":
            guard let time = value.flatMap({ FaultNumber.duration($0) }), time > 0, time <= Self.longestDelay
            else { throw wrong }
            return .slow(time)
        case "rest-cut" where value == nil: return .cut
        case "rest-empty" where value == nil: return .empty
        case "rest-narrow" where value == nil: return .narrow
        default: throw wrong
        }
    }

    private static func refusal(_ parts: inout FaultText, _ wrong: FaultSyntaxError) throws(FaultSyntaxError) -> Refusal
    {
        func status(_ text: String?, initial: Int?, within range: ClosedRange<Int>) throws(FaultSyntaxError) -> Int {
            guard let status = text.map({ FaultNumber.count($0, within: range) }) ?? initial else { throw wrong }
            return status
        }
        switch parts.name {
        case "redirect":
            guard let target = parts.value, !target.isEmpty else { throw wrong }
            return Refusal(
                status: try status(parts.take("status"), initial: 302, within: 300...399),
                headers: [Refusal.Header(name: "Location", value: target)],
                body: ""
            )
        case "html", "rest-html":
            return Refusal(
                status: try status(parts.value, initial: 200, within: 200...599),
                headers: [Refusal.Header(name: "Content-Type", value: "text/html; charset=utf-8")],
                body: "<!DOCTYPE html>\n<html><head><title>Just a moment...</title></head><body></body></html>\n"
            )
        default:
            let status = try status(parts.value, initial: nil, within: 200...599)
            var refusal = Refusal(status: status, body: parts.take("body"))
            if let text = parts.take("retry-after") {
                guard let seconds = FaultNumber.count(text, within: 0...86_400) else { throw wrong }
                refusal.headers.append(Refusal.Header(name: "Retry-After", value: "\(seconds)"))
            }
            // Neither status has a body (RFC 9110, 15.3.5 and 15.4.5).
            if status == 204 || status == 304 { refusal.body = "" }
            return refusal
        }
    }

    /// Parses the text after one `@`: connections (`1`, `1-3`, `2-`) or a time (`10s`, `10s-20s`).
    private mutating func take(when text: String) throws(FaultSyntaxError) {
        let ends = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        if let first = FaultNumber.count(ends[0], within: 1...1_000_000) {
            guard self.connections == 1...Int.max else {
                throw FaultSyntaxError("\"@\(text)\" names connections a second time")
            }
            let last =
                ends.count == 1
                ? first : ends[1].isEmpty ? Int.max : FaultNumber.count(ends[1], within: first...1_000_000)
            if let last {
                self.connections = first...last
                return
            }
        } else if let from = FaultNumber.duration(ends[0]) {
            guard self.window == nil else { throw FaultSyntaxError("\"@\(text)\" names a time a second time") }
            let to = ends.count == 1 ? from : FaultNumber.duration(ends[1]).flatMap { $0 > from ? $0 : nil }
            if let to {
                self.window = Window(from: from, to: to)
                return
            }
        }
        throw FaultSyntaxError(
            "\"@\(text)\" is neither connections (@1, @1-3, @2-) nor a time after the open (@10s, @10s-20s)"
        )
    }
}

extension Fault.Manual {
    fileprivate init(_ name: String, _ form: String, _ meaning: String) {
        self.init(name: name, form: form, meaning: meaning)
    }
}

extension FaultText {
    /// Removes an option and returns its value; `nil` without it.
    fileprivate mutating func take(_ name: String) -> String? {
        guard let index = self.options.firstIndex(where: { $0.name == name }) else { return nil }
        return self.options.remove(at: index).value
    }
}
