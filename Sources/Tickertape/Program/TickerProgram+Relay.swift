import Feeds
import Ingest
import Logging
import Market
import Measurements
import NIOCore
import Recordings
import Relay
import ServiceLifecycle

/// The relay of the program: where it lives and listens, what it knows of before, and when its door closes.
extension TickerProgram {
    /// The most clients of a relay that lives on the feed's loop: writing to so many takes about 4 ms, for which a read of
    /// the feed may then have to wait.
    private static let mostClientsBesideFeed = 1_000

    /// Whether the relay lives on the feed's loop, which saves every read two wake-ups and a change of threads.
    ///
    /// Not where a feed can wait for its readers, for then both sides have work all the time; nor with TLS, for there each
    /// new client costs a signature.
    var relaySharesLoop: Bool {
        self.played == nil && self.settings.relay.maximumClients <= Self.mostClientsBesideFeed
            && self.settings.relayFiles.certificate == nil
    }

    func makeRelay(
        on loop: any EventLoop,
        inherited: InheritedSocket?,
        subscriptions: Subscriptions,
        valve: FeedValve,
        status: FeedStatus,
        epoch: UInt64,
        instruments: Instruments,
        certificate: RelayTLS?,
        logger: Logger,
        keeping: KeyKeeping?,
        past: RelayPast?,
        prices: SettledPrices?
    ) -> RelayDoor? {
        let place = self.settings.relay
        var (listen, socket) = (place.listen, place.unixSocket)
        var inherited = inherited
        if let wanted = listen, let passed = inherited {
            let isChosen = self.settings.origin(of: .relayListen) != .builtIn
            listen = passed.endpoint(listen: wanted, isChosen: isChosen) { Console.complain($0) }
            // Of the address in the settings it has been told.
            if wanted.isLoopback, let listen, let warning = Settings.warning(of: listen) {
                Console.complain("warning: \(warning)")
            }
            if case .file(let path) = passed.place {
                listen = nil
                socket = socket ?? path
            }
        } else if inherited != nil {
            Console.complain("relay.listen is off, so the socket that was passed is not used")
            inherited = nil
        }
        guard listen != nil || socket != nil else { return nil }
        var relaySettings = place
        relaySettings.listen = listen
        relaySettings.inheritedSocket = inherited?.descriptor
        relaySettings.token = self.settings.relayToken.map { ClientToken($0.reveal()) }
        relaySettings.version = tickertapeVersion
        let relay = RelayServer(
            settings: relaySettings,
            subscriptions: subscriptions,
            freshness: self.settings.finnhub.watch.freshness,
            eventLoop: loop,
            logger: logger,
            flow: self.played == nil ? nil : valve,
            status: status,
            epoch: epoch,
            wallClock: WallClock.now,
            instruments: instruments,
            tls: certificate,
            replay: self.played?.remote,
            past: past,
            prices: prices
        )
        return RelayDoor(
            relay: relay,
            listen: listen,
            isEncrypted: certificate != nil,
            socket: socket,
            lock: keeping?.lock,
            lockDisk: keeping?.lockDisk
        )
    }

    static func relayPart(_ door: RelayDoor) -> ProgramPart {
        ProgramPart("relay") {
            let opening = Task { await door.openLater() }
            try? await gracefulShutdown()
            opening.cancel()
            await door.relay.stop()
        }
    }

    /// Gives the relay the newest trades of the runs before this one, as far as they are recorded where this one records.
    func remember(_ relay: RelayServer) async {
        guard self.feed.source == .live, let path = self.settings.record.file else { return }
        await relay.remember(EarlierRecordings(folder: FilePath.folder(of: path)).trades(now: WallClock.now()))
    }

    /// Closes the relay's door as soon as the end is near, and tells the service manager of the beginning and the end.
    static func doorPart(_ relay: RelayServer?, manager: ServiceManager) -> ProgramPart {
        ProgramPart("door") {
            manager.tell("READY=1")
            try? await gracefulShutdown()
            manager.tell("STOPPING=1")
            await relay?.closeDoor()
        }
    }
}
