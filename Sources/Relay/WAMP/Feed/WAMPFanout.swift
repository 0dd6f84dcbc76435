import NIOCore
import Wire

/// The router of all sessions of WAMP, with their fan-out of trades. It does what ``WAMPRouter`` asks for.
final class WAMPFanout: TradeFanout {
    private let loop: any EventLoop
    private let slots: DirectSlots
    private let numbers: MessageNumbers
    private(set) var router: WAMPRouter
    private var sessions: [UInt64: WAMPClient] = [:]
    /// Stays empty: sessions are grouped by their subscriptions, which are more than names of symbols.
    @exclusivity(unchecked) var groups = SubscriberGroups<WAMPClient>()
    private var tradeGroups = WAMPTradeGroups()
    private var texts = SymbolTexts()
    /// The actions that are still to be done. One may end a session, which causes others.
    private var actions: [WAMPAction] = []
    private var isActing = false
    private var callTimer: Scheduled<Void>?
    /// The subscriptions that match the feed's topics, as long as no subscription appears or vanishes.
    private var matches: [WAMPTopic: [UInt64]] = [:]
    private var generation: UInt64 = 0
    /// The most topics whose subscriptions are kept.
    private static let maximumMatches = 4_096
    /// The number of the publication made last, for which several subscriptions get an event.
    private var lastPublication: (key: WAMPEventKey, id: UInt64)?

    init(loop: any EventLoop, slots: DirectSlots, numbers: MessageNumbers, ids: WAMPIDs) {
        self.loop = loop
        self.slots = slots
        self.numbers = numbers
        self.router = WAMPRouter(ids)
    }

    var isEmpty: Bool { self.tradeGroups.isEmpty }

    // MARK: Sessions

    func joined(_ client: WAMPClient, canBeInterrupted: Bool) -> UInt64 {
        let session = self.router.joined(canBeInterrupted: canBeInterrupted)
        self.sessions[session] = client
        return session
    }

    func left(_ session: UInt64) {
        guard let client = self.sessions.removeValue(forKey: session) else { return }
        self.tradeGroups.place(client, wanting: [])
        self.act(self.router.left(session))
    }

    /// Returns whether a session keeps up with what it is sent.
    func isReady(_ session: UInt64) -> Bool { self.sessions[session]?.keepsUp == true }

    // MARK: The router

    /// Changes the router, and does what it asks for.
    func change<Answer>(
        _ change: (inout WAMPRouter) throws(WAMPFailure) -> (Answer, [WAMPAction])
    ) throws(WAMPFailure) -> Answer {
        let (answer, actions) = try change(&self.router)
        self.act(actions)
        return answer
    }

    /// Changes the router where that cannot fail, and does what it asks for.
    func act(_ change: (inout WAMPRouter) -> [WAMPAction]) { self.act(change(&self.router)) }

    private func act(_ actions: [WAMPAction]) {
        self.actions += actions
        guard !self.isActing else { return }
        self.isActing = true
        var done = 0
        while done < self.actions.count {
            self.act(self.actions[done])
            done += 1
        }
        self.actions = []
        self.isActing = false
        self.armCallTimer()
    }

    private func act(_ action: WAMPAction) {
        switch action {
        case .send(let message, let session):
            self.sessions[session]?.deliver(message)
        case .publish(let event, let members):
            var frames: [WAMPSerialisation: ByteBuffer] = [:]
            for member in members {
                // Nothing is encoded for a client that does not keep up.
                guard let client = self.sessions[member], client.keepsUp else { continue }
                let frame = frames[client.serialisation] ?? client.serialisation.frame(event)
                frames[client.serialisation] = frame
                client.offer(frame)
            }
        }
    }

    private func armCallTimer() {
        guard self.callTimer == nil, self.router.dealer.isWaiting else { return }
        self.callTimer = self.loop.assumeIsolated().scheduleTask(in: WAMPLimits.callCheckInterval) { [weak self] in
            guard let self else { return }
            self.callTimer = nil
            self.act(self.router.timePassed(now: self.loop.now))
            self.armCallTimer()
            self.sessions.values.first?.flush()
        }
    }

    // MARK: Events of the feed

    /// Returns the subscriptions that match a topic of the feed.
    func matching(_ topic: WAMPTopic) -> [UInt64] {
        if self.generation != self.router.broker.generation || self.matches.count >= Self.maximumMatches {
            self.generation = self.router.broker.generation
            self.matches = [:]
        }
        if let known = self.matches[topic] { return known }
        let matching = self.router.broker.matching(topic.uri)
        self.matches[topic] = matching
        return matching
    }

    /// Returns the number of the publication of an event, the same for all subscriptions that get it in this turn.
    func publication(of key: WAMPEventKey) -> UInt64 {
        if let lastPublication, lastPublication.key == key { return lastPublication.id }
        let id = self.router.publication()
        self.lastPublication = (key, id)
        return id
    }

    // MARK: Trades

    /// Changes the subscriptions by which a session gets every trade.
    func setTrades(of client: WAMPClient, _ subscriptions: [UInt64]) {
        self.tradeGroups.place(client, wanting: subscriptions)
    }

    func epochBegan() { self.texts.epochBegan() }

    func send(_ batches: ArraySlice<TapeBatch>, of present: SymbolSet) -> Bool {
        var encoder = WAMPTradeEncoder(batches, broker: self.router.broker, texts: &self.texts) {
            self.matching($0)
        } publication: {
            self.router.publication()
        } number: {
            self.numbers.next()
        }
        var isDelivered = false
        for (key, group) in self.tradeGroups.all {
            guard let content = encoder.content(for: key) else { continue }
            isDelivered = true
            self.slots.send(content.bytes, over: group.slots) { index, sent in
                group.members[index].deliver(
                    content.bytes,
                    behind: sent,
                    messages: content.messages,
                    trades: content.trades
                )
            }
        }
        return isDelivered
    }
}
