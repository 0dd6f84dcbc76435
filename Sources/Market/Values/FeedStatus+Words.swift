// The words of a feed's status for people, on the screen and in lines.
extension FeedStatus {
    /// The status as one word for people: ``word``, except that a replay is never called live.
    package var spokenWord: String {
        guard self.source != .live else { return self.word }
        return switch self.phase {
        case .live: self.isPaused ? "PAUSED" : "PLAYING"
        case .ended: "ENDED"
        case .connecting, .waiting, .late, .stale, .reconnecting, .rateLimited, .keyRejected, .keyInUse, .noSuchSymbol,
            .notPermitted, .stopped:
            self.word
        }
    }

    /// Returns the status with the time of the next attempt.
    ///
    /// - Parameter time: returns the words for the time of the attempt, and for the wait until it.
    package func words(_ time: (_ retryAt: Int64) -> (at: String, until: String)) -> String {
        guard let retryAt = self.phase.retryAt else { return self.spokenWord }
        let (at, until) = time(retryAt)
        if case .rateLimited = self.phase { return "\(self.spokenWord) \(until)" }
        if case .reconnecting(let attempt, _) = self.phase { return "\(self.spokenWord), attempt \(attempt) \(at)" }
        return "\(self.spokenWord), next attempt \(at)"
    }

    /// Returns the status with its reason, as a line has it.
    ///
    /// - Parameter marks: the marks that must not be overlooked.
    package func sentence(marks: [String]) -> String {
        var text = self.words { time in
            let wait = AgeText.record(time - self.since)
            return ("in \(wait)", "for \(wait)")
        }
        if let via = self.via { text += " via \(ScreenText.clean(via, columns: 64))" }
        if let reason = self.reason { text += ": \(ScreenText.clean(reason, columns: 256))" }
        for mark in marks { text += ", \(ScreenText.clean(mark, columns: 256))" }
        return text
    }

    /// Whether this is the attempt that a failure announced. Its reason is the failure's, which the user has already
    /// seen.
    package func isAttempt(after failure: FeedStatus) -> Bool {
        self.phase == .connecting && self.reason != nil && self.reason == failure.reason && failure.phase.retryAt != nil
    }

    /// The mark of a line whose data came over a connection with an unchecked certificate.
    package var certificateMark: String? { self.certificateChecked ? nil : "CERTIFICATE-NOT-CHECKED" }
}

extension FeedStatus.Source {
    /// The word beside every price that is not the market's.
    package var mark: String? { self == .live ? nil : self.word.uppercased() }
}
