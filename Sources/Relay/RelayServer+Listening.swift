import HTTP
import Glibc
import Logging
import NIOConcurrencyHelpers
package import NIOCore

// The start of a relay: its sockets, and the sources of its HTTP answers.
extension RelayServer {
    /// Listens; returns the address with its port, or that of the socket file if there is no other.
    ///
    /// - Throws: ``RelayError``, whose description says what to change.
    package func start() async throws -> SocketAddress {
        let address = try self.settings.listen.map { place throws(RelayError) in
            try ListeningAddress.resolve(host: place.host, port: place.port, hasToken: self.settings.token != nil)
        }
        try self.life.withLockedValue { life in
            guard case .new = life else { throw RelayError.alreadyStarted }
            life = .starting
        }
        do {
            return try await self.listen(at: address)
        } catch {
            // A caller may retry until the address is free. A stop in the meantime remains in force.
            self.life.withLockedValue { if case .starting = $0 { $0 = .new } }
            throw self.relayError(for: error)
        }
    }

    private func listen(at address: SocketAddress?) async throws -> SocketAddress {
        let descriptors = DescriptorBudget.connections(wanted: self.settings.wantedDescriptors)
        if descriptors < self.settings.maximumClients {
            self.logger.warning(
                "The limit of open files leaves fewer places than relay.max-clients",
                metadata: ["places": "\(descriptors)"]
            )
        }
        let listener = try await self.eventLoop.submit {
            self.hub.value.descriptors = descriptors
            return NIOLoopBound(self.makeListener(), eventLoop: self.eventLoop)
        }.get()
        var listening = Listening(channels: [])
        do {
            if let descriptor = self.settings.inheritedSocket {
                let channel = try await RelayListener.take(
                    self.settings,
                    descriptor: descriptor,
                    isTCP: address != nil,
                    on: self.eventLoop,
                    listener: listener,
                    logger: self.logger
                )
                listening.channels.append(channel)
            } else if let address {
                let channel = try await RelayListener.bind(
                    self.settings,
                    address: address,
                    on: self.eventLoop,
                    listener: listener,
                    logger: self.logger
                )
                listening.channels.append(channel)
            }
            if let path = self.settings.unixSocket {
                let file = try await Self.socketFile(path)
                listening.file = file
                let channel = try await RelayListener.take(
                    self.settings,
                    descriptor: file.descriptor,
                    isTCP: false,
                    on: self.eventLoop,
                    listener: listener,
                    logger: self.logger
                )
                listening.channels.append(channel)
            }
            if let place = self.settings.lines {
                listening.lines = try await self.bindLines(at: place, listener: listener)
            }
        } catch {
            await listening.close()
            throw error
        }
        let opened = listening
        let isRunning = self.life.withLockedValue { life in
            guard case .starting = life else { return false }
            life = .running(opened)
            return true
        }
        guard isRunning, let bound = opened.address else {
            // The relay was stopped in the meantime.
            await opened.close()
            throw RelayError.alreadyStarted
        }
        try await self.eventLoop.submit { self.hub.value.start() }.get()
        self.logger.info(
            "The relay listens",
            metadata: bound.port.map { ["host": "\(self.settings.listen?.host ?? "")", "port": "\($0)"] }
                ?? ["socket": "\(bound.pathname ?? "")"]
        )
        return bound
    }

    private static func socketFile(_ path: String) async throws(RelayError) -> UnixSocketFile {
        do throws(UnixSocketFile.Failure) {
            return try await UnixSocketFile.make(listeningAt: path)
        } catch {
            throw error.isInUse ? .socketInUse(path: path) : .cannotMakeSocket(path: path, reason: error.reason)
        }
    }

    private func makeListener() -> RelayListener {
        let hub = self.hub
        let loop = self.eventLoop
        let outbox = self.outbox
        let sources = RelayRouter.Sources(
            reading: { [connectionTable] in
                try await loop.submit {
                    let answers = connectionTable.value.waitingAnswerBytes
                    return hub.value.reading(outboxBytes: outbox.waitingBytes, answerBytes: answers)
                }.get()
            },
            // The memory of an answer is reserved on the loop, so that at most one answer exists without a reservation.
            snapshot: { reservation in
                try await loop.submit {
                    let snapshot = hub.value.snapshot()
                    try reservation.hold(snapshot.storageCapacity)
                    return snapshot
                }.get()
            },
            symbolSnapshot: { symbol in try await loop.submit { hub.value.snapshot(of: symbol) }.get() },
            trades: { symbol, limit, reservation in
                try await loop.submit {
                    let trades = hub.value.trades(of: symbol, limit: limit)
                    try reservation.hold(items: trades?.items.count ?? 0)
                    return trades
                }.get()
            },
            bars: { [past] symbol, query, reservation in
                let live = try await loop.submit {
                    let bars = hub.value.bars(of: symbol, query)
                    try reservation.hold(items: bars?.bars.count ?? 0)
                    return bars
                }.get()
                return try await BarExcerpt.joining(live, past: past, of: symbol, query, reservation)
            },
            past: self.past,
            directory: self.directory,
            holdings: self.holdings.body,
            settings: self.settingsBody,
            instruments: self.instruments,
            version: self.settings.version,
            replay: self.replayEndpoint,
            webSocketPaths: self.hub.value.protocols.paths
        )
        return RelayListener(
            hub: hub.value,
            connectionTable: self.connectionTable.value,
            router: RelayRouter(sources: sources, logger: self.logger),
            answers: AnswerMemory(heap: self.heap),
            tls: self.tls,
            logger: self.logger
        )
    }

    private func relayError(for error: any Error) -> RelayError {
        let place = self.settings.listen ?? Endpoint(host: "127.0.0.1", port: 0)
        let (host, port) = (place.host, place.port)
        switch error {
        case let error as RelayError: return error
        case let error as IOError where error.errnoCode == EADDRINUSE: return .addressInUse(host: host, port: port)
        default: return .cannotListen(host: host, port: port, reason: Self.reason(for: error))
        }
    }

    /// Returns why an address cannot be used, in words.
    static func reason(for error: any Error) -> String {
        guard let error = error as? IOError else { return "\(error)" }
        return switch error.errnoCode {
        case EADDRINUSE: "address already in use"
        case EADDRNOTAVAIL: "this machine has no such address"
        case EACCES: "ports below 1024 need a privilege"
        default: String(cString: strerror(error.errnoCode))
        }
    }
}
