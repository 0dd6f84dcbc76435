import Market
import Measurements

/// The state of the feed in words, from the longest form to the shortest, with the time of their next change.
struct StatusWords {
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
        var mark = Self.mark(of: status.phase)
        self.reason = status.phase.hasReason ? status.reason : nil
        let because = status.reason.map { ": \($0)" } ?? ""
        self.lasts = nil
        switch status.phase {
        case .connecting:
            self.ink = .warning
            self.forms = ["CONNECTING\(because)", "CONNECTING", "CONN"]
        case .waiting:
            self.ink = .warning
            self.forms = ["CONNECTED, no trade yet\(because)", "CONNECTED, no trade yet", "WAITING", "WAIT"]
        case .live:
            // What is played is not live, however well it goes.
            self.ink = status.source == .live ? .good : status.isPaused ? .warning : .accent
            self.forms = [status.spokenWord.uppercased()]
            if status.isPaused { mark = "◌" }
        case .late:
            let age = silence ?? (wall - status.since)
            self.ink = .warning
            self.forms = ["LATE, no trade for \(AgeText.words(age))", "LATE \(AgeText.words(age))", "LATE"]
            self.lasts = AgeText.untilChange(growing: age)
        case .stale:
            let age = silence ?? (wall - status.since)
            self.ink = .alarm
            self.forms = ["STALE, no trade for \(AgeText.words(age))", "STALE \(AgeText.words(age))", "STALE"]
            self.lasts = AgeText.untilChange(growing: age)
        case .reconnecting(let attempt, let retryAt):
            let wait = retryAt - wall
            let when = AgeText.seconds(wait) == 0 ? "now" : "in \(AgeText.words(wait))"
            self.ink = .alarm
            self.forms = [
                "RECONNECTING, attempt \(attempt) \(when)\(because)", "RECONNECTING, attempt \(attempt) \(when)",
                "RECONNECTING \(attempt) \(when)", "RECONNECTING", "RECON",
            ]
            self.lasts = AgeText.untilChange(shrinking: wait)
        case .rateLimited(let until):
            let wait = until - wall
            let how = AgeText.seconds(wait) == 0 ? "" : " for \(AgeText.words(wait))"
            self.ink = .alarm
            self.forms = ["RATE LIMITED\(how)\(because)", "RATE LIMITED\(how)", "RATE LIMITED", "LIMIT"]
            self.lasts = AgeText.untilChange(shrinking: wait)
        case .keyRejected(let retryAt):
            let (when, lasts) = Self.next(retryAt, wall: wall)
            self.ink = .alarm
            self.forms = ["KEY REJECTED\(when)\(because)", "KEY REJECTED\(when)", "KEY REJECTED", "BAD KEY"]
            self.lasts = lasts
        case .keyInUse(let retryAt):
            let (when, lasts) = Self.next(retryAt, wall: wall)
            self.ink = .alarm
            self.forms = [
                "KEY IN USE ELSEWHERE\(when)\(because)", "KEY IN USE ELSEWHERE\(when)", "KEY IN USE ELSEWHERE",
                "KEY IN USE", "IN USE",
            ]
            self.lasts = lasts
        case .noSuchSymbol:
            self.ink = .alarm
            self.forms = ["NO SUCH SYMBOL\(because)", "NO SUCH SYMBOL", "NO SYM"]
        case .notPermitted:
            self.ink = .alarm
            self.forms = ["NOT PERMITTED\(because)", "NOT PERMITTED", "NO PERM"]
        case .ended:
            self.ink = .warning
            self.forms = ["ENDED\(because)", "ENDED", "END"]
        case .stopped:
            self.ink = .warning
            self.forms = ["STOPPED\(because)", "STOPPED", "STOP"]
        }
        if glyphs == .ascii { mark = "*" }
        self.forms = self.forms.map { "\(mark) \($0)" } + [self.forms[self.forms.count - 1]]
    }

    /// When the next attempt is, in words, and for how long these are true.
    private static func next(_ retryAt: Int64?, wall: Int64) -> (words: String, lasts: Int64?) {
        guard let retryAt else { return ("", nil) }
        let wait = retryAt - wall
        let words = AgeText.seconds(wait) == 0 ? ", next now" : ", next in \(AgeText.words(wait))"
        return (words, AgeText.untilChange(shrinking: wait))
    }

    private static func mark(of phase: FeedStatus.Phase) -> String {
        switch phase {
        case .live: "●"
        case .connecting, .waiting, .late, .stale: "◌"
        case .reconnecting, .rateLimited, .keyRejected, .keyInUse, .noSuchSymbol, .notPermitted: "✖"
        case .ended, .stopped: "■"
        }
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
        guard glyphs == .unicode else { return "*" }
        return switch self {
        case .fresh: "●"
        case .late: "◌"
        case .old: "✖"
        }
    }
}

extension FeedStatus.Phase {
    /// Whether the reason of a status is news in this phase.
    fileprivate var hasReason: Bool {
        switch self {
        case .live, .late, .stale: false
        case .connecting, .waiting, .reconnecting, .rateLimited, .keyRejected, .keyInUse, .noSuchSymbol, .notPermitted,
            .ended,
            .stopped:
            true
        }
    }
}
