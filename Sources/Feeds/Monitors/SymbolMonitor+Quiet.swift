package import Market

/// A silence of symbols, for which a connection is closed or a gap published.
package struct SymbolSilence: Sendable, Equatable {
    /// The first of the symbols, and the number of the others.
    package var symbol: String
    package var others: Int
    /// How long the symbol that traded last has been silent; ns.
    package var nanoseconds: Int64
    /// When the first of the symbols fell silent on this connection; wall clock, ns since 1970. Their trades since then
    /// may be missing.
    package var from: Int64

    package init(symbol: String, others: Int, nanoseconds: Int64, from: Int64) {
        self.symbol = symbol
        self.others = others
        self.nanoseconds = nanoseconds
        self.from = from
    }
}

// The steps for a symbol that does not trade: first a changed status, then a new subscription, then a new connection,
// then a pause, which doubles with each round.
extension SymbolMonitor {
    /// Returns how long the symbol may be without a trade before it is quiet; ns.
    func threshold(_ place: Int, now: Int64) -> Int64 {
        UsualSilence.limit(
            longest: self.clocks[place].longestGap(now: now),
            times: self.settings.staleFactor,
            within: self.settings.freshness
                .staleAfter...max(self.settings.staleLimit, self.settings.freshness.staleAfter)
        )
    }

    /// Moves the start of all silences: a replay was paused for `time` ns.
    mutating func shifted(by time: Int64, now: Int64) {
        self.shiftTrades(by: time, now: now)
        for place in self.clocks.indices { self.clocks[place].shift(by: time, now: now) }
    }

    /// Returns when the next step for the symbol is due, if one is; monotonic ns.
    private func stepDeadline(_ place: Int, now: Int64) -> Int64? {
        guard self.entries[place].refusal == nil, let since = self.clocks[place].since else { return nil }
        let threshold = self.threshold(place, now: now)
        guard let episode = self.entries[place].episode, self.isQuiet(place) else { return since + threshold }
        guard self.takesSteps else { return nil }
        guard let resubscribed = episode.resubscribed else {
            return max(since + threshold, self.entries[place].coolUntil)
        }
        let patient = resubscribed + threshold
        return self.mayReconnect(for: episode) ? max(patient, self.reconnectAfter) : patient
    }

    func isQuiet(_ place: Int) -> Bool {
        if case .quiet = self.entries[place].status.state { return true }
        return false
    }

    /// Whether a reconnect is allowed. While other symbols trade, each silence of one symbol may cost them one
    /// reconnect.
    private func mayReconnect(for episode: Episode) -> Bool {
        !episode.hasReconnected || !self.clocks.contains { $0.isLive }
    }

    /// Returns when the first step for any symbol is due; monotonic ns.
    func quietDeadline(now: Int64) -> Int64? {
        self.entries.indices.compactMap { self.stepDeadline($0, now: now) }.min()
    }

    /// Takes the steps that are due.
    mutating func takeSteps(_ now: Moment) -> Action {
        var wantsReconnect = false
        for place in self.entries.indices {
            guard let due = self.stepDeadline(place, now: now.monotonic), now.monotonic >= due else { continue }
            guard self.isQuiet(place), var episode = self.entries[place].episode else {
                self.becameQuiet(place, now: now)
                continue
            }
            if episode.resubscribed == nil {
                episode.resubscribed = now.monotonic
                self.entries[place].episode = episode
                self.pacer.append(.unsubscribe(self.entries[place].symbol))
                self.pacer.append(.subscribe(self.entries[place].symbol))
            } else if self.mayReconnect(for: episode) {
                wantsReconnect = true
            } else {
                self.endRound(place, now: now.monotonic)
            }
        }
        guard wantsReconnect else { return .none }
        return self.reconnect(now)
    }

    private mutating func becameQuiet(_ place: Int, now: Moment) {
        let clock = self.clocks[place]
        // Trades for at least as long as the pause prove a recovery, so the pauses start again.
        let pause = self.coolDown(after: self.entries[place].round)
        if clock.isLive, let since = clock.since, since - clock.runBegan >= pause { self.entries[place].round = 0 }
        self.clocks[place].isLive = false
        self.entries[place].episode = self.entries[place].episode ?? Episode()
        let seconds = (now.monotonic - (clock.since ?? now.monotonic)) / 1_000_000_000
        self.change(place, to: .quiet, reason: "no trade for \(seconds) s", now: now)
    }

    /// Notes that a symbol is about to trade. It may have been silent, or its trades may not have been sent. If the
    /// silence was longer than usual for it, trades may be missing.
    mutating func silenceEnded(_ place: Int, now: Moment) {
        // A symbol that was quiet before this connection may trade at once here; the gap between the connections covers
        // it.
        guard self.takesSteps, self.isQuiet(place), let since = self.clocks[place].since,
            now.monotonic - since >= self.settings.freshness.staleAfter
        else { return }
        let from = now.wall(at: since)
        if let silence = self.endedSilence {
            self.endedSilence?.others = silence.others + 1
            self.endedSilence?.from = min(silence.from, from)
        } else {
            self.endedSilence = SymbolSilence(
                symbol: self.entries[place].symbol,
                others: 0,
                nanoseconds: now.monotonic - since,
                from: from
            )
        }
    }

    /// Returns the silence that has ended with a trade, once.
    package mutating func takeEndedSilence() -> SymbolSilence? {
        defer { self.endedSilence = nil }
        return self.endedSilence
    }

    /// Returns when the first of the symbols that are quiet now fell silent; wall clock, ns since 1970.
    package func quietSince(_ now: Moment) -> Int64? {
        guard self.takesSteps else { return nil }
        let sinces = self.entries.indices.compactMap { self.isQuiet($0) ? self.clocks[$0].since : nil }
        return sinces.min().map { now.wall(at: $0) }
    }

    private mutating func endRound(_ place: Int, now: Int64) {
        let entry = self.entries[place]
        self.entries[place].episode?.resubscribed = nil
        self.entries[place].coolUntil = now + self.coolDown(after: entry.round)
        self.entries[place].round = entry.round + 1
    }

    private func coolDown(after rounds: Int) -> Int64 {
        self.settings.coolDown.doubled(times: rounds, limit: self.settings.coolDownLimit)
    }

    /// Requests a new connection on behalf of all quiet symbols.
    private mutating func reconnect(_ now: Moment) -> Action {
        let quiet = self.entries.indices.filter { self.isQuiet($0) && self.clocks[$0].since != nil }
        let fresh = quiet.filter { self.entries[$0].episode?.hasReconnected == false }
        // The gap before this connection covers the symbols that were silent then.
        let reported = fresh.isEmpty ? quiet : fresh
        let sinces = reported.compactMap { self.clocks[$0].since }
        let first = sinces.min() ?? now.monotonic
        let silence = SymbolSilence(
            symbol: reported.first.map { self.entries[$0].symbol } ?? "",
            others: reported.count - 1,
            nanoseconds: now.monotonic - (sinces.max() ?? now.monotonic),
            from: now.wall(at: first)
        )
        for place in quiet {
            self.entries[place].episode?.hasReconnected = true
            self.endRound(place, now: now.monotonic)
        }
        // Each symbol has its own pause. This one keeps fifty symbols from causing reconnects in turn.
        if let last = self.lastReconnect, now.monotonic - last >= 2 * self.settings.coolDownLimit {
            self.silenceRounds = 0
        }
        self.lastReconnect = now.monotonic
        self.reconnectAfter = now.monotonic + self.coolDown(after: self.silenceRounds)
        self.silenceRounds += 1
        return .reconnect(silence)
    }
}
