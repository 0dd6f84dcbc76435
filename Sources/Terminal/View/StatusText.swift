import Market
import Measurements

/// The state of the feed in words, from the longest form to the shortest, with the time of their next change.
struct StatusText {
    /// Longest first; each begins with a mark, so that colour is never alone.
    var forms: [String]
    var ink: CellStyle.Ink
    /// Why, when the longest form says it.
    var reason: String?
    /// How long these words stay true, ns; `nil` when they do not depend on time.
    var lasts: Int64?

    /// - Parameters:
    ///   - status: what is true of the feed, its age considered.
    ///   - silence: the age of the newest trade of all, ns.
    init(_ status: FeedStatus, silence: Int64?, wall: Int64, glyphs: ScreenGlyphs) {
        var lasts: Int64?
        /// When something comes, in words.
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
            // What is played is not live, however well it goes.
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
            hasReason = false
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

/// How far a price can be trusted to be the market's.
enum Freshness: Equatable {
    case fresh
    /// No trade for a while, though the feed stands.
    case late
    /// The symbol is quiet, or the feed is cut: the market may be anywhere.
    case old

    /// By the feed's word for itself and for the symbol; by the price's age only where it says nothing of the symbol, and
    /// where the silence is unusual for it.
    ///
    /// - Parameter unusual: the age from which it is: ``FreshnessLimits/unusualSilence(longest:)`` of its own; `nil` while
    ///   those are not known.
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
            // A price from before it was asked for anew, across which some may be missing.
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
            // What was true at the end of a recording stays so.
            switch symbol {
            case .live, .asked, nil: self = .fresh
            case .quiet, .refused: self = .old
            }
        case .stale, .connecting, .waiting, .reconnecting, .rateLimited, .keyRejected, .keyInUse, .noSuchSymbol,
            .notPermitted, .stopped:
            self = .old
        }
    }

    /// The age in words, longest form first; anything but fresh says so with a mark and a word.
    func forms(age: Int64, glyphs: ScreenGlyphs) -> [String] {
        let words = AgeText.words(age)
        let mark = self.mark(glyphs)
        return switch self {
        case .fresh: ["\(words) ago", words]
        case .late: ["\(mark) LATE \(words)", "\(mark)LATE \(words)", "\(mark)LATE", "!"]
        case .old: ["\(mark) OLD \(words)", "\(mark)OLD \(words)", "\(mark)OLD", "!"]
        }
    }

    /// What stands before the word, so that colour is never alone.
    func mark(_ glyphs: ScreenGlyphs) -> String {
        switch self {
        case .fresh: glyphs.sign("●", "*")
        case .late: glyphs.sign("◌", "*")
        case .old: glyphs.sign("✖", "*")
        }
    }
}
