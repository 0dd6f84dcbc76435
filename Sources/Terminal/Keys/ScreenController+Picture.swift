import Market

// What is drawn.
extension ScreenController {
    /// The state to be drawn: the newest, or that of the moment when the picture was frozen, with what is said here.
    ///
    /// Only the picture stands still then: alerts, events and warnings are of now, and so is what is said of the feed.
    ///
    /// - Parameter now: monotonic ns.
    func shown(_ state: DisplayState, now: Int64) -> DisplayState {
        var shown = self.frozen ?? state
        shown.news = self.news
        var notices = [state.notice]
        if let frozen {
            shown.alerts = state.alerts
            shown.events = state.events
            shown.behind = state.facts
            notices.append(self.meanwhile(state.status, frozen: frozen.status))
        }
        notices.append(self.notice)
        // The one that came up last, and of two at once the one that was said to the person.
        shown.notice = notices.compactMap(\.self).filter { $0.isShown(at: now) }.reduce(nil) { newest, notice in
            notice.since >= newest?.since ?? .min ? notice : newest
        }
        return shown
    }

    /// What has become of the feed behind a still picture, for as long as it is something else than when that was taken.
    private func meanwhile(_ status: FeedStatus, frozen: FeedStatus) -> DisplayNotice? {
        guard status.spokenWord != frozen.spokenWord, let start = self.choice.frozenSince else { return nil }
        let reason = status.reason.map { ": \($0)" } ?? ""
        return DisplayNotice(
            text: "meanwhile the feed is \(status.spokenWord)\(reason)",
            since: start.monotonic + max(status.since - start.wall, 0),
            isLasting: true
        )
    }
}
