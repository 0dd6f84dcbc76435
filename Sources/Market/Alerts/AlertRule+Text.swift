extension AlertRule {
    /// Reads a rule: `SYMBOL CONDITION OPTIONS`.
    ///
    /// - Parameter symbol: the subject of a text that begins with its condition; without it such a text is an error.
    package init(_ text: String, symbol: String? = nil) throws(ParseError) {
        guard text.utf8.count <= Self.maximumBytes else {
            throw ParseError("a rule has at most \(Self.maximumBytes) bytes; make it shorter")
        }
        guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            throw ParseError("a rule is one line of printable text")
        }
        var words = AlertTexts(text)
        let name = words.takeSubject()
        guard !words.isEmpty else {
            let first = name.split(separator: " ").first.map(String.init) ?? symbol
            throw ParseError(
                "the rule has no condition; write it like \(Self.example(first)), or with below, crosses, moves, "
                    + "rises, falls, new high, new low, stale or back"
            )
        }
        guard let subject = name.isEmpty ? symbol : name else {
            throw ParseError("which symbol? write it like \(Self.example(nil)), with * for every symbol")
        }
        if let fault = SymbolName.fault(in: subject) { throw ParseError("its symbol \(fault.words)") }
        switch subject {
        case "*": self.subject = .every
        case "feed": self.subject = .feed
        default: self.subject = .symbol(subject)
        }
        self.condition = try words.takeCondition()
        try self.takeOptions(&words)
        try self.check()
    }

    private mutating func takeOptions(_ words: inout AlertTexts) throws(ParseError) {
        var seen: Set<String> = []
        while let word = words.next() {
            let option = word.lowercased()
            guard seen.insert(option).inserted else { throw ParseError("\(option) is given twice; keep one") }
            switch option {
            case "once": self.isOnce = true
            case "cooldown": self.cooldown = try words.takeSpan("cooldown", example: "cooldown 5m")
            case "hysteresis": self.hysteresis = try words.takeBand()
            case "quiet":
                let hours = words.next() ?? ""
                if hours.lowercased() == "never" {
                    self.quiet = .never
                } else if let hours = QuietHours(hours) {
                    self.quiet = .hours(hours)
                } else {
                    throw ParseError("quiet needs hours of the day: quiet 22:00-07:00, or quiet never")
                }
            default:
                throw ParseError(
                    "\"\(word)\" is not an option; there are hysteresis 0.1%, cooldown 5m, quiet 22:00-07:00 and once"
                )
            }
        }
    }

    private func check() throws(ParseError) {
        if case .feed = self.subject, !self.isAboutSilence {
            throw ParseError("the feed has no price: it can be stale or back; name a symbol, or * for every symbol")
        }
        guard let hysteresis = self.hysteresis else { return }
        switch self.condition {
        case .above(let price), .below(let price), .crosses(let price):
            guard PriceEdge(price, band: hysteresis, isUpper: true) != nil,
                PriceEdge(price, band: hysteresis, isUpper: false) != nil
            else { throw ParseError("price and hysteresis are too many digits apart; write the hysteresis in percent") }
        case .newHigh, .newLow: break
        case .moves, .stale, .back:
            throw ParseError("\(self.kind) needs no hysteresis; leave it out")
        }
    }

    private static func example(_ symbol: String?) -> String {
        "\(symbol ?? "BINANCE:BTCUSDT") above 60000"
    }
}

extension AlertRule: CustomStringConvertible {
    package var description: String {
        var text: String
        switch self.subject {
        case .every: text = "*"
        case .feed: text = "feed"
        case .symbol(let name): text = name
        }
        switch self.condition {
        case .above(let price): text += " above \(price)"
        case .below(let price): text += " below \(price)"
        case .crosses(let price): text += " crosses \(price)"
        case .moves(let direction, let percent, let span):
            text += " \(direction.rawValue) \(percent)% in \(AlertSpan.write(span))"
        case .newHigh: text += " new high"
        case .newLow: text += " new low"
        case .stale(let limit): text += " stale" + (limit.map { " for \(AlertSpan.write($0))" } ?? "")
        case .back(let limit): text += " back" + (limit.map { " after \(AlertSpan.write($0))" } ?? "")
        }
        switch self.hysteresis {
        case .percent(let percent): text += " hysteresis \(percent)%"
        case .price(let price): text += " hysteresis \(price)"
        case nil: break
        }
        if let cooldown { text += " cooldown \(AlertSpan.write(cooldown))" }
        switch self.quiet {
        case .never: text += " quiet never"
        case .hours(let hours): text += " quiet \(hours)"
        case nil: break
        }
        return self.isOnce ? text + " once" : text
    }
}

/// Exact numbers as people write them in a rule.
package enum AlertNumber {
    /// The largest percentage, 100000.
    private static let maximumPercent = ExactDecimal(normalisedSignificand: 1, exponent: 5)

    /// Reads a price: digits, with `_` between them if wanted, and no grouping by commas.
    package static func price(_ text: String) -> ExactDecimal? {
        ExactDecimal(String(text.filter { $0 != "_" }))
    }

    /// Reads a percentage: a number of at most four fraction digits, followed by its sign: `0.1%`.
    package static func percent(_ text: String) -> ExactDecimal? {
        guard text.hasSuffix("%"), let number = ExactDecimal(String(text.dropLast())), number.significand >= 0,
            number <= Self.maximumPercent, number.exponent >= -4
        else { return nil }
        return number
    }
}

/// The words of a rule, consumed one by one.
private struct AlertTexts {
    private static let conditions: Set = [
        "above", "below", "crosses", "moves", "rises", "falls", "new", "stale", "back",
    ]

    private var words: ArraySlice<Substring>

    init(_ text: String) { self.words = text.split(separator: " ")[...] }

    var isEmpty: Bool { self.words.isEmpty }

    mutating func next() -> String? { self.words.popFirst().map(String.init) }

    private mutating func take(_ word: String) -> Bool {
        guard self.words.first?.lowercased() == word else { return false }
        self.words.removeFirst()
        return true
    }

    /// Takes all words before the condition; the names of some venues contain spaces.
    mutating func takeSubject() -> String {
        let end = self.words.firstIndex { Self.conditions.contains($0.lowercased()) } ?? self.words.endIndex
        defer { self.words = self.words[end...] }
        return self.words[..<end].joined(separator: " ")
    }

    mutating func takeCondition() throws(AlertRule.ParseError) -> AlertRule.Condition {
        let word = self.next()?.lowercased() ?? ""
        switch word {
        case "above": return .above(try self.takePrice(word))
        case "below": return .below(try self.takePrice(word))
        case "crosses": return .crosses(try self.takePrice(word))
        case "new":
            if self.take("high") { return .newHigh }
            if self.take("low") { return .newLow }
            throw AlertRule.ParseError("new what? write new high or new low")
        case "stale":
            _ = self.take("for")
            return .stale(after: try self.takeOptionalSpan("stale for 45s"))
        case "back":
            _ = self.take("after")
            return .back(after: try self.takeOptionalSpan("back after 45s"))
        default: return try self.takeMove(AlertRule.Direction(rawValue: word) ?? .either)
        }
    }

    private mutating func takeMove(_ direction: AlertRule.Direction) throws(AlertRule.ParseError) -> AlertRule.Condition
    {
        let word = direction.rawValue
        _ = self.take("by")
        guard let text = self.next(), let percent = AlertNumber.percent(text), !percent.isZero else {
            throw AlertRule.ParseError(
                "by how much? write \(word) 2% in 5m, from 0.0001% to 100000%, with at most four fraction digits"
            )
        }
        if direction == .down, percent >= PriceEdge.hundred {
            throw AlertRule.ParseError("a price cannot fall by \(percent)%; write less than 100%")
        }
        guard self.take("in") || self.take("within") else {
            throw AlertRule.ParseError("within what time? write \(word) \(percent)% in 5m")
        }
        let span = try self.takeSpan(word, example: "\(word) \(percent)% in 5m")
        guard span > 0 else { throw AlertRule.ParseError("\(word) needs a span longer than 0") }
        return .moves(direction, percent: percent, within: span)
    }

    private mutating func takePrice(_ word: String) throws(AlertRule.ParseError) -> ExactDecimal {
        guard let text = self.next() else { throw AlertRule.ParseError("\(word) what price? write \(word) 60000") }
        guard let price = AlertNumber.price(text) else {
            throw AlertRule.ParseError(
                "\"\(text)\" is not a price; write it like 60000 or 0.125, without a currency or commas, at most 18 digits"
            )
        }
        return price
    }

    mutating func takeSpan(_ what: String, example: String) throws(AlertRule.ParseError) -> Int64 {
        guard let text = self.next(), let span = AlertSpan.read(text) else {
            throw AlertRule.ParseError("\(what) needs a time of at most 7d: \(example)")
        }
        return span
    }

    /// Takes a span if the next word begins with a digit.
    private mutating func takeOptionalSpan(_ example: String) throws(AlertRule.ParseError) -> Int64? {
        guard let first = self.words.first?.first, first.isNumber else { return nil }
        let span = try self.takeSpan(String(example.prefix { $0 != " " }), example: example)
        guard span >= 1_000_000_000 else {
            throw AlertRule.ParseError("a silence must last at least 1s; write \(example)")
        }
        return span
    }

    mutating func takeBand() throws(AlertRule.ParseError) -> AlertRule.Band {
        let text = self.next() ?? ""
        if let percent = AlertNumber.percent(text), percent <= ExactDecimal(normalisedSignificand: 5, exponent: 1) {
            return .percent(percent)
        }
        if !text.hasSuffix("%"), let price = AlertNumber.price(text), price.significand >= 0 { return .price(price) }
        throw AlertRule.ParseError("hysteresis needs a percentage of the price, 0% to 50%, or a price: hysteresis 0.1%")
    }
}
