import Feeds
import Market
import NIOConcurrencyHelpers
import NIOCore
import Platform
import Relay
import TLS
import Terminal

/// The reload of a running program's settings and of the relay's certificate. Only a new key opens a new connection to the
/// upstream.
///
/// A mistake anywhere refuses the whole file, and everything stays as it is.
actor ProgramReload {
    /// The wait for the disk of a file, which may delay a stop.
    private static let limit = Duration.seconds(2)

    private let program: TickerProgram
    private let base: TickerBase
    private let readers: TickerReaders
    /// The watchlist of the screen; `nil` without one.
    private let screen: ScreenSymbols?
    private let disk = WorkQueue("settings")
    private let certificateDisk = WorkQueue("certificate")
    /// The newest reload, which the next one waits for.
    private var newest: Task<Void, Never>?
    /// The key whose change is under way, and the number of the changes.
    private var newKey: Secret?
    private var keyChanges = 0

    init(_ program: TickerProgram, _ base: TickerBase, _ readers: TickerReaders, screen: ScreenSymbols?) {
        self.program = program
        self.base = base
        self.readers = readers
        self.screen = screen
    }

    /// Loads everything again, after a reload that is under way, and reports it.
    ///
    /// - Parameter cause: what asked for it, the beginning of each line.
    func reload(_ cause: String) async {
        let before = self.newest
        let task = Task {
            await before?.value
            await self.load(cause)
        }
        self.newest = task
        await task.value
    }

    private func load(_ cause: String) async {
        let manager = self.base.manager
        manager.notify("RELOADING=1", "MONOTONIC_USEC=\(SystemClock.monotonic() / 1_000)")
        defer { manager.notify("READY=1") }
        do throws(OperatorError) {
            for line in try await self.loadSettings(cause) { self.report("\(cause): \(line)") }
        } catch {
            return self.report("\(cause): nothing is loaded, everything stays as it was: \(error)")
        }
        guard let certificate = self.base.certificate else { return }
        let lines = await self.certificateDisk.answer(within: Self.limit) { certificate.reload() }
        guard let lines, let first = lines.first else {
            return self.report(
                "\(cause): the disk of the certificate has not answered for 2 s; the new one is used when it does"
            )
        }
        self.report("\(cause): \(first)")
        for warning in lines.dropFirst() { self.base.warnings.warn(warning) }
    }

    private nonisolated func report(_ line: String) {
        if let display = self.readers.display, display.isScreen {
            display.display.notice(line)
        } else {
            Console.printError(line)
        }
    }

    // MARK: Settings

    /// Loads the settings and applies those that can be; returns the result in lines.
    ///
    /// - Throws: ``OperatorError`` for a mistake in any of the files.
    private func loadSettings(_ cause: String) async throws(OperatorError) -> [String] {
        guard let reloadable = self.program.reloadable else { return [] }
        let outputs = self.readers.alerts.outputs
        let answer = await self.disk.answer(within: Self.limit) {
            Result { () throws(OperatorError) in
                let loaded = try reloadable.load()
                return (loaded, outputs: try outputs.prepare(loaded.settings))
            }
        }
        guard let answer else {
            throw OperatorError("the disk of the settings has not answered for 2 s", status: .failure)
        }
        let (loaded, parts) = try answer.get()
        let (old, new) = (reloadable.running.settings, loaded.settings)
        for warning in loaded.warnings { self.base.warnings.warn(warning) }
        let isReplay = self.program.played != nil
        // An ingest's lease is that of its key.
        let hasKey =
            !isReplay && self.program.feed.finnhub != nil && self.program.feed.standby == nil && new.token != nil
        let change = SettingsChange(from: old, to: new) { setting in
            switch setting.key {
            // A replay has the symbols of its material.
            case Setting.symbols.key: !isReplay
            case Setting.token.key: hasKey
            default: true
            }
        }
        try self.check(new, change)
        var inForce = old
        // A key is in force when its connection is.
        inForce.take(change.reloadable.filter { $0.key != Setting.token.key }, from: new)
        reloadable.running.settings = inForce
        // The file of the webhook may have another URL.
        let isOther = outputs.use(parts)
        let triesKey = change.applies(.token) ? self.changeKey(new, cause) : false
        if !change.applies(.token) { self.keepKey() }
        let closed = await self.apply(change, from: old, to: inForce)
        let isNamed = change.applies(.alertWebhook, .alertWebhookFile, .alertWebhookAuthorityFile)
        let others = isOther && !isNamed ? ["the webhook's URL"] : []
        return Self.lines(change, others, file: loaded.file, closed: closed, triesKey: triesKey)
    }

    /// Checks what the start checks beyond the settings by themselves.
    private func check(_ new: Settings, _ change: SettingsChange) throws(OperatorError) {
        // Warnings of the address were printed at the start, and another address needs a restart.
        _ = try new.checkRelay()
        guard self.program.played == nil, change.applies(.symbols) else { return }
        _ = try FeedPlan(new, token: new.token)
    }

    /// - Parameters:
    ///   - others: what has changed besides values of settings.
    ///   - triesKey: whether a connection with another key is being opened.
    private static func lines(
        _ change: SettingsChange,
        _ others: [String],
        file: String?,
        closed: Int,
        triesKey: Bool
    ) -> [String] {
        let keys = { (settings: [Setting]) in settings.map(\.key).joined(separator: ", ") }
        var line = "loaded \(file ?? "the settings") again: "
        let loaded = change.reloadable.map(\.key) + others
        if loaded.isEmpty {
            line += change.restart.isEmpty ? "nothing has changed" : "nothing takes effect now"
        } else {
            line += loaded.joined(separator: ", ")
        }
        if closed > 0 { line += "; closed \(closed) \(closed == 1 ? "client" : "clients") that may not stay" }
        var lines = [line]
        if triesKey {
            lines.append("a connection with the new key is being opened; the old one stays until the first trade")
        }
        if !change.restart.isEmpty { lines.append("only a restart changes \(keys(change.restart))") }
        return lines
    }

    /// Applies the settings; returns the number of clients that were closed.
    private func apply(_ change: SettingsChange, from old: Settings, to new: Settings) async -> Int {
        if change.applies(.symbols) { await self.follow(old, new) }
        if change.applies(.relayUnsubscribeGrace) {
            self.base.subscriptions.change(linger: new.finnhub.subscriptions.linger)
        }
        if change.applies(.alertRules, .alertHysteresis, .alertCooldown, .alertQuietHours) {
            self.readers.alerts.reload(
                new.alerts,
                before: old.alerts.rules,
                symbols: self.base.subscriptions.symbols,
                warn: self.base.warnings.warn
            )
        }
        if change.applies(.recordKeepDays, .recordKeepSize) {
            self.readers.recording?.recorder.keep(age: new.recorder.keepAge, bytes: new.recorder.keepBytes)
        }
        let log = change.reloadable.filter { $0.key.hasPrefix("log.") }
        if !log.isEmpty {
            var settings = self.program.settings
            settings.take(log, from: new)
            self.base.log.levels.set(ProgramLog.levels(settings, format: DisplayService.format(settings)))
        }
        guard change.reloadable.contains(where: { $0.key.hasPrefix("relay.") }), let server = self.readers.server else {
            return 0
        }
        return await server.reload { relay in
            var settings = Settings()
            settings.relay = relay
            settings.take(Setting.all.filter(\.isReloadable), from: new)
            relay = settings.relay
            relay.token = new.relayToken
        }
    }

    /// Begins to use another key, and reports the end, which may be minutes away. Returns whether that was not under way
    /// already.
    private func changeKey(_ new: Settings, _ cause: String) -> Bool {
        guard let key = new.token, key != self.newKey else { return false }
        self.keyChanges += 1
        self.newKey = key
        Task { [number = self.keyChanges] in
            let change = await self.outcome(of: key, new, number: number)
            if number == self.keyChanges { self.newKey = nil }
            self.report("\(cause): \(Self.line(change))")
        }
        return true
    }

    /// Changes to another key; returns when the key before or the new one is settled.
    private func outcome(of key: Secret, _ new: Settings, number: Int) async -> KeyChange {
        let prepared = await self.disk.answer(within: Self.limit) { [program = self.program, base = self.base] in
            let storage = TickerBase.keyStorage(program, base.warnings, key: key)
            return storage.map { storage in (storage, Result { try base.feed.access(with: key, storage) }) }
        }
        guard number == self.keyChanges else { return .kept("other settings have come meanwhile") }
        guard case let (storage, access)?? = prepared else {
            return .kept("the disk of its state has not answered for 2 s; load the settings again later")
        }
        let feed = self.base.feed
        switch access {
        case .failure(let error): return .kept("\(error) (tls.ca-file, --ca-file)")
        case .success(let access):
            // The feed is asked before anything else can happen here, so that the newest key is the last one.
            let change = await withCheckedContinuation { continuation in
                feed.change(to: access) { continuation.resume(returning: $0) }
            }
            if case .changed = change { self.keyChanged(new, key, storage) }
            return change
        }
    }

    /// Ends a change of the key that is under way.
    private func keepKey() {
        guard self.newKey != nil else { return }
        self.keyChanges += 1
        self.newKey = nil
        self.base.feed.keepKey()
    }

    private func keyChanged(_ new: Settings, _ key: Secret, _ storage: KeyStorage) {
        self.program.reloadable?.running.settings.take([.token], from: new)
        if let relay = self.readers.relay { relay.keyChanged(to: storage) } else { storage.announceNoRelay() }
        self.base.lookup.keyChanged(to: key)
    }

    private static func line(_ change: KeyChange) -> String {
        switch change {
        case .changed(isProven: true):
            "the new key is in use: its connection took over with its first trade, and a gap (key-rotated) marks the seam"
        case .changed(isProven: false): "the new key is in use from the present attempt to connect on"
        case .kept(let reason): "the new key is not used, and the one before stays: \(reason)"
        }
    }

    /// Follows the symbols that the settings name now, and no longer those that they have ceased to name. Symbols of the
    /// relay's clients stay, and those that a person has added at the screen.
    private func follow(_ old: Settings, _ new: Settings) async {
        let (before, after) = (Set(old.symbolNames), Set(new.symbolNames))
        let display = self.readers.display?.display
        for symbol in old.symbolNames where !after.contains(symbol) {
            if let screen {
                await screen.unfollow(symbol)
            } else {
                self.base.subscriptions.release(symbol)
                display?.symbolRemoved(symbol)
            }
        }
        for text in new.finnhub.symbols {
            let chosen = ChosenSymbol(text)
            guard !before.contains(chosen.name) else { continue }
            let refusal =
                if let screen { await screen.follow(chosen) } else { await self.add(chosen, display) }
            if let refusal { self.base.warnings.warn("symbols: \(refusal)") }
        }
    }

    /// Adds a symbol where there is no screen. Returns `nil`, or the reason for a refusal in one line.
    private func add(_ chosen: ChosenSymbol, _ display: PriceDisplay?) async -> String? {
        if let refusal = self.program.feed.refusal(of: chosen) { return refusal }
        display?.symbolAwaited(chosen.name)
        if let problem = await self.base.subscriptions.add(chosen.name) {
            display?.symbolDenied(chosen.name)
            return problem
        }
        display?.symbolAdded(chosen.name)
        return nil
    }
}
