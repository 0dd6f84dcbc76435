import Market

extension FeedStatus {
    /// The state as one word for people: ``word``, but what is played is never called live.
    var spokenWord: String {
        guard self.source != .live else { return self.word }
        return switch self.phase {
        case .live: self.isPaused ? "PAUSED" : "PLAYING"
        case .ended: "ENDED"
        case .connecting, .waiting, .late, .stale, .reconnecting, .rateLimited, .keyRejected, .keyInUse, .noSuchSymbol,
            .notPermitted, .stopped:
            self.word
        }
    }

    /// The state with the time of the next attempt.
    ///
    /// - Parameter time: when that is, and until when nothing happens, in words.
    func words(_ time: (_ retryAt: Int64) -> (at: String, until: String)) -> String {
        guard let retryAt = self.phase.retryAt else { return self.spokenWord }
        let (at, until) = time(retryAt)
        if case .rateLimited = self.phase { return "\(self.spokenWord) \(until)" }
        if case .reconnecting(let attempt, _) = self.phase { return "\(self.spokenWord), attempt \(attempt) \(at)" }
        return "\(self.spokenWord), next attempt \(at)"
    }

    /// Whether it is the attempt that was announced with a failure: its reason is that of the failure, which has been told.
    func isAttempt(after failure: FeedStatus) -> Bool {
        self.phase == .connecting && self.reason != nil && self.reason == failure.reason && failure.phase.retryAt != nil
    }
}

extension FeedStatus.Source {
    /// The word that people must see beside every price that is not the market's.
    var mark: String? { self == .live ? nil : self.word.uppercased() }
}

/// The marks that a person must never miss: where the trades come from when not from the market, and a certificate
/// that nobody checked. They shrink with the screen and never go.
enum DisplayMarks {
    /// Where the trades come from, beside the words of the state; the longest form first.
    ///
    /// - Parameter replay: where the replay stands, which knows its speed better than the source does.
    static func source(_ source: FeedStatus.Source, replay: ReplayPosition? = nil) -> [String] {
        guard let word = source.mark else { return [] }
        return self.forms(of: source, word, replay) + [word, String(word.prefix(1))]
    }

    /// The same for a line that has no room for the words of the state: what is played says whether it plays, stands still
    /// or is over.
    static func played(_ status: FeedStatus, replay: ReplayPosition?) -> [String] {
        guard let word = status.source.mark else { return [] }
        let last = String(word.prefix(1))
        // Of a recording the file says enough, so that its word is that of the state.
        let isRecording = if case .replay = status.source { true } else { false }
        switch status.phase {
        case .live where !status.isPaused:
            let said = isRecording ? status.spokenWord : word
            return self.forms(of: status.source, said, replay) + [said, last]
        case .live, .ended:
            return (isRecording ? [] : ["\(word) \(status.spokenWord)"]) + [status.spokenWord, last]
        case .connecting, .waiting, .late, .stale, .reconnecting, .rateLimited, .keyRejected, .keyInUse, .noSuchSymbol,
            .notPermitted, .stopped:
            return self.source(status.source, replay: replay)
        }
    }

    /// The word with the pace and what is played.
    private static func forms(of source: FeedStatus.Source, _ word: String, _ replay: ReplayPosition?) -> [String] {
        switch source {
        case .live:
            return []
        case .demo:
            guard let replay, replay.speed != 1 else { return [] }
            return ["\(word) \(self.pace(replay.speed))"]
        case .replay(let file, let speed):
            let name = file.split(separator: "/").last.map(String.init) ?? file
            let pace = "\(word) \(self.pace(replay.map(\.speed) ?? speed))"
            return ["\(pace) \(name)", pace]
        case .simulated(let seed, let speed):
            let pace = "\(word) \(self.pace(replay.map(\.speed) ?? speed))"
            return ["\(pace), seed \(seed)", pace]
        }
    }

    static func certificate(isChecked: Bool) -> [String] {
        isChecked ? [] : ["CERTIFICATE NOT CHECKED", "CERT NOT CHECKED", "NO CERT CHECK", "!CERT", "!C"]
    }

    static func pace(_ speed: Double?) -> String {
        guard let speed else { return "max" }
        let text = "\(speed)"
        return (text.hasSuffix(".0") ? String(text.dropLast(2)) : text) + "x"
    }
}
