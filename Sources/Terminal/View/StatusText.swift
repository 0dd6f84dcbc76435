import Market
import Measurements

/// The feed's status in words, from the longest form to the shortest, with the time of the next change.
struct StatusText {
    /// Longest first; each begins with a mark, since colour alone is not enough.
    var forms: [String]
    var ink: CellStyle.Ink
    /// The reason, if the longest form includes it.
    var reason: String?
    /// How long these words stay true, ns; `nil` if they do not depend on time.
    var lasts: Int64?

    /// - Parameters:
    ///   - status: the effective status, which takes the newest trade's age into account.
    ///   - silence: the age of the newest trade of all symbols, ns.
    init(_ status: FeedStatus, silence: Int64?, wall: Int64, glyphs: ScreenGlyphs) {
        var lasts: Int64?
        /// Returns the words for a wait.
        func wait(_ before: String, until time: Int64?, now: String) -> String {
            guard let time else { return "" }
            lasts = AgeText.untilChange(shrinking: time - wall)
            return AgeText.seconds(time - wall) == 0 ? now : "\(before) \(AgeText.words(time - wall))"
        }
        var mark = "✖"
        var hasReason = true
        switch status.phase {
        case .connecting:
            (mark, self.ink) = ("◌", .warning)
            self.forms = ["CONNECTING", "CONN"]
        case .waiting:
            (mark, self.ink) = ("◌", .warning)
            self.forms = ["CONNECTED, no trade yet", "WAITING", "WAIT"]
        case .live:
            // A replay is not live, however well it runs.
            mark = status.isPaused ? "◌" : "●"
            self.ink = status.source == .live ? .good : status.isPaused ? .warning : .accent
            self.forms = [status.spokenWord.uppercased()]
            hasReason = false
        case .late, .stale:
            let age = silence ?? (wall - status.since)
            let word = status.phase == .late ? "LATE" : "STALE"
            (mark, self.ink) = ("◌", status.phase == .late ? .warning : .alarm)
            self.forms = ["\(word), no trade for \(AgeText.words(age))", "\(word) \(AgeText.words(age))", word]
            lasts = AgeText.untilChange(growing: age)
            // Of an edge without an ingest. A connection has no cause.
            hasReason = status.phase == .stale && status.cause != nil
        case .reconnecting(let attempt, let retryAt):
            let when = wait(" in", until: retryAt, now: " now")
            self.ink = .alarm
            self.forms = [
                "RECONNECTING, attempt \(attempt)\(when)", "RECONNECTING \(attempt)\(when)", "RECONNECTING", "RECON",
            ]
        case .rateLimited(let until):
            self.ink = .alarm
            self.forms = ["RATE LIMITED\(wait(" for", until: until, now: ""))", "RATE LIMITED", "LIMIT"]
        case .keyRejected(let retryAt):
            let when = wait(", next in", until: retryAt, now: ", next now")
            self.ink = .alarm
            self.forms = ["KEY REJECTED\(when)", "KEY REJECTED", "BAD KEY"]
        case .keyInUse(let retryAt):
            let when = wait(", next in", until: retryAt, now: ", next now")
            self.ink = .alarm
            self.forms = ["KEY IN USE ELSEWHERE\(when)", "KEY IN USE ELSEWHERE", "KEY IN USE", "IN USE"]
        case .noSuchSymbol:
            self.ink = .alarm
            self.forms = ["NO SUCH SYMBOL", "NO SYM"]
        case .notPermitted:
            self.ink = .alarm
            self.forms = ["NOT PERMITTED", "NO PERM"]
        case .ended:
            (mark, self.ink) = ("■", .warning)
            self.forms = ["ENDED", "END"]
        case .stopped:
            (mark, self.ink) = ("■", .warning)
            self.forms = ["STOPPED", "STOP"]
        }
        self.reason = hasReason ? status.reason : nil
        self.lasts = lasts
        let because = status.reason.map { ": \($0)" } ?? ""
        if hasReason { self.forms.insert(self.forms[0] + because, at: 0) }
        if glyphs == .ascii { mark = "*" }
        self.forms = self.forms.map { "\(mark) \($0)" } + [self.forms[self.forms.count - 1]]
    }
}

/// How well a price represents the current market.
enum Freshness: Equatable {
    case fresh
    /// No recent trade, though the feed is connected.
    case late
    /// The symbol is quiet, or the connection is lost, so the market's price may be anywhere.
    case old

    /// Derives the freshness from the statuses of the feed and of the symbol. The age counts only if the symbol has no
    /// status and the silence is unusual for it.
    ///
    /// - Parameter unusual: the age from which a silence is unusual (``FreshnessLimits/unusualSilence(longest:)``);
    ///   `nil` while it is unknown.
    init(
        age: Int64,
        unusual: Int64? = nil,
        phase: FeedStatus.Phase,
        symbol: SymbolStatus.State?,
        limits: FreshnessLimits
    ) {
        switch phase {
        case .live, .late:
            switch symbol {
            case .live: self = phase == .live && age < unusual ?? .max ? .fresh : .late
            // The price is older than the new subscription, and trades in between may be missing.
            case .asked: self = age < limits.staleAfter ? .late : .old
            case .quiet, .refused: self = .old
            case nil:
                if age >= limits.staleAfter {
                    self = .old
                } else {
                    self = phase == .live && age < unusual ?? limits.lateAfter ? .fresh : .late
                }
            }
        case .ended:
            // The last status of a recording stays.
            switch symbol {
            case .live, .asked, nil: self = .fresh
            case .quiet, .refused: self = .old
            }
        case .stale, .connecting, .waiting, .reconnecting, .rateLimited, .keyRejected, .keyInUse, .noSuchSymbol,
            .notPermitted, .stopped:
            self = .old
        }
    }

    /// Returns the age in words, longest form first; any other freshness than `fresh` adds a mark and a word.
    func forms(age: Int64, glyphs: ScreenGlyphs) -> [String] {
        let words = AgeText.words(age)
        let mark = self.mark(glyphs)
        return switch self {
        case .fresh: ["\(words) ago", words]
        case .late: ["\(mark) LATE \(words)", "\(mark)LATE \(words)", "\(mark)LATE", "!"]
        case .old: ["\(mark) OLD \(words)", "\(mark)OLD \(words)", "\(mark)OLD", "!"]
        }
    }

    /// Returns the mark before the word, since colour alone is not enough.
    func mark(_ glyphs: ScreenGlyphs) -> String {
        switch self {
        case .fresh: glyphs.sign("●", "*")
        case .late: glyphs.sign("◌", "*")
        case .old: glyphs.sign("✖", "*")
        }
    }
}
