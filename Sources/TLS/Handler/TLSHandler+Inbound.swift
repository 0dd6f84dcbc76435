package import NIOCore
internal import NIOTLS

// The inbound half: ciphertext to plaintext.
//
// A read burst is one or more `channelRead`s and a `channelReadComplete`. Its ciphertext is decrypted on arrival, and
// its plaintext is passed on as one buffer at the end. The end of the stream is handled after that, so that it never
// overtakes bytes.
extension TLSHandler {
    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.phase {
        case .handshaking, .open, .closing:
            // After a close_notify there is nothing to read (RFC 8446, 6.1).
            guard !self.hasReceivedCloseNotify else { return }
            self.connection?.receive(self.unwrapInboundIn(data))
            self.process()
        case .idle, .draining, .closed:
            break  // Late: the connection is failing or closed, and ignores these bytes.
        }
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        let isFed = self.plaintext.readableBytes > 0 || self.hasDelivered
        self.finishBurst()
        // The burst contained only the handshake or a part of a record, so a requested read is still unanswered.
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
        if self.phase == .open, !self.isProcessing, self.connection?.hasMore == true {
            // Bytes that arrived without a requested read are now requested.
            self.process()
            self.finishBurst()
        }
        self.readOn(context: context)
    }

    /// Reads from the transport, at once or after enough of the owed ciphertext has been sent.
    func readOn(context: ChannelHandlerContext) {
        if self.owesTooMuch { self.isReadHeld = true } else { context.read() }
    }

    private var owesTooMuch: Bool { self.owedBytes >= Self.maximumOwedBytes }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent else {
            context.fireUserInboundEventTriggered(event)
            return
        }
        // The transport's half-close. It is an error unless a close_notify came before it.
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

    /// Passes received bytes to OpenSSL. A nested call only leaves its bytes to the loop of the outer call.
    func process() {
        guard !self.isProcessing else { return }
        self.isProcessing = true
        defer { self.isProcessing = false }
        if self.phase == .handshaking { self.continueHandshake() }
        self.decrypt()
        self.sendAnswers()
    }

    /// Sends OpenSSL's answers to the messages that were just read, such as KeyUpdate.
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
        if self.connection?.hasMore == true {
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
                    // The reader has closed. These bytes are skipped to reach the close_notify behind them.
                    self.plaintext.clear()
                case .idle, .handshaking, .draining, .closed:
                    return
                }
                switch try connection.read(into: &self.plaintext) {
                case .bytes:
                    if self.plaintext.readableBytes >= Self.deliveryBytes { self.deliver() }
                    // Nearly every burst is one record; a read more would only find that there is nothing.
                    guard connection.hasMore else { return }
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

    /// Whether bytes can be passed on: a read was requested, or the channel reads automatically, or the channel is
    /// inactive.
    private var mayDeliver: Bool {
        if self.isReadRequested { return true }
        guard let channel = self.context?.channel, channel.isActive else { return true }
        return (try? channel.syncOptions?.getOption(.autoRead)) ?? true
    }

    private func deliver() {
        guard self.plaintext.readableBytes > 0 else { return }
        // The receiver must be the only owner; otherwise its first change would copy all bytes.
        let delivered = self.plaintext
        self.plaintext = ByteBuffer()
        self.isReadRequested = false
        self.hasDelivered = true
        self.context?.fireChannelRead(self.wrapInboundOut(delivered))
    }

    /// Passes on the plaintext of the burst, and then handles its end.
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
            // This side has closed already, so an error in the peer's ending does not matter.
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
