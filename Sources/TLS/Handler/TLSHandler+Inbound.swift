package import NIOCore
internal import NIOTLS

// Ciphertext in, plaintext out.
//
// A read burst (some `channelRead`, then `channelReadComplete`) is decrypted as it comes, and passed on as one buffer at
// its end. What ended the stream is acted on after that, so that it never overtakes bytes.
extension TLSHandler {
    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.phase {
        case .handshaking, .open, .closing:
            // Behind a close_notify there is nothing to read (RFC 8446, 6.1).
            guard !self.hasReceivedCloseNotify else { return }
            self.connection?.receive(self.unwrapInboundIn(data))
            self.process()
        case .idle, .draining, .closed:
            break  // Late: nobody waits for these bytes.
        }
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        let isFed = self.plaintext.readableBytes > 0 || self.hasDelivered
        self.finishBurst()
        // The burst was the handshake's, or too short for a record: who asked for bytes is still waiting.
        switch self.phase {
        case .handshaking, .closing:
            self.readOn(context: context)
        case .open:
            if self.isReadRequested, !isFed { self.readOn(context: context) }
        case .idle, .draining, .closed:
            break
        }
        if !isFed { context.fireChannelReadComplete() }
    }

    package func read(context: ChannelHandlerContext) {
        self.isReadRequested = true
        if self.phase == .open, !self.isProcessing, self.connection?.hasUnreadInput == true {
            // Bytes came that nobody had asked for; now somebody does.
            self.process()
            self.finishBurst()
        }
        self.readOn(context: context)
    }

    /// Reads from the transport, now or once what the peer has made this side owe has left.
    func readOn(context: ChannelHandlerContext) {
        if self.owesTooMuch { self.isReadHeld = true } else { context.read() }
    }

    private var owesTooMuch: Bool { self.owedBytes >= Self.mostOwedBytes }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent else {
            context.fireUserInboundEventTriggered(event)
            return
        }
        // The transport's half-close. What it means is decided by whether a close_notify came before it.
        switch self.phase {
        case .handshaking:
            self.fail(TLSError(kind: .handshakeInterrupted, reason: "the peer closed the connection"))
        case .open:
            guard !self.hasReceivedCloseNotify else { return }
            self.connection?.inputEnded()
            self.process()
            self.finishBurst()
        case .closing:
            self.closeTransportAfterCloseNotify()
        case .idle, .draining, .closed:
            break
        }
    }

    /// Gives OpenSSL what arrived. A call from inside another only leaves its bytes for that one's loop.
    func process() {
        guard !self.isProcessing else { return }
        self.isProcessing = true
        defer { self.isProcessing = false }
        if self.phase == .handshaking { self.continueHandshake() }
        self.decrypt()
        self.sendAnswers()
    }

    /// Sends what OpenSSL says to the messages that were just read, such as KeyUpdate.
    private func sendAnswers() {
        guard let context = self.context, let output = self.connection?.takeOutput() else { return }
        let bytes = output.readableBytes
        self.owedBytes += bytes
        let left = context.eventLoop.makePromise(of: Void.self)
        left.futureResult.assumeIsolated().whenComplete { _ in self.answersLeft(bytes) }
        context.writeAndFlush(self.wrapOutboundOut(output), promise: left)
    }

    private func answersLeft(_ bytes: Int) {
        let owedTooMuch = self.owesTooMuch
        self.owedBytes -= bytes
        guard owedTooMuch, !self.owesTooMuch, let context = self.context else { return }
        if self.connection?.hasUnreadInput == true {
            self.process()
            self.finishBurst()
        }
        guard self.isReadHeld else { return }
        self.isReadHeld = false
        self.readOn(context: context)
    }

    private func decrypt() {
        do throws(TLSError) {
            while let connection = self.connection, self.inboundEnd == nil, !self.hasReceivedCloseNotify,
                !self.owesTooMuch
            {
                switch self.phase {
                case .open:
                    guard self.mayDeliver else { return }
                case .closing:
                    // Nobody reads any more; these bytes only stand before the close_notify.
                    self.plaintext.clear()
                case .idle, .handshaking, .draining, .closed:
                    return
                }
                switch try connection.read(into: &self.plaintext) {
                case .bytes:
                    if self.plaintext.readableBytes >= Self.deliveryBytes { self.deliver() }
                case .needsInput:
                    return
                case .closed:
                    self.inboundEnd = .closeNotify
                }
            }
        } catch {
            self.inboundEnd = .failure(error)
        }
    }

    /// Whether bytes can be passed on: they were asked for, or the channel reads by itself, or no more can come.
    private var mayDeliver: Bool {
        if self.isReadRequested { return true }
        guard let channel = self.context?.channel, channel.isActive else { return true }
        return (try? channel.syncOptions?.getOption(.autoRead)) ?? true
    }

    private func deliver() {
        guard self.plaintext.readableBytes > 0 else { return }
        // The receiver must be the only owner, or its first change would copy everything.
        let delivered = self.plaintext
        self.plaintext = ByteBuffer()
        self.isReadRequested = false
        self.hasDelivered = true
        self.context?.fireChannelRead(self.wrapInboundOut(delivered))
    }

    /// Passes on what the burst brought, and then its end.
    func finishBurst() {
        if self.phase == .open || self.inboundEnd != nil { self.deliver() }
        if self.hasDelivered {
            self.hasDelivered = false
            self.context?.fireChannelReadComplete()
        }
        guard let end = self.inboundEnd else { return }
        self.inboundEnd = nil
        switch end {
        case .failure(let error): self.inboundFailed(error)
        case .closeNotify: self.closeNotifyReceived()
        }
    }

    private func inboundFailed(_ error: TLSError) {
        if self.phase == .closing {
            // We have closed; how the peer ends is its own affair.
            self.closeTransportAfterCloseNotify()
        } else {
            self.fail(error)
        }
    }

    private func closeNotifyReceived() {
        guard let context = self.context else { return }
        self.hasReceivedCloseNotify = true
        switch self.phase {
        case .open:
            let isHalfClosureAllowed = (try? context.channel.syncOptions?.getOption(.allowRemoteHalfClosure)) ?? false
            if isHalfClosureAllowed, !self.isOutputClosed {
                context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
            } else {
                self.startClosing()
            }
        case .closing:
            self.continueClosing()
        case .idle, .handshaking, .draining, .closed:
            break
        }
    }
}
