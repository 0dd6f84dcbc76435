package import NIOCore
internal import NIOTLS

// The outbound half: plaintext to ciphertext, and the ways to close.
//
// Flushed plaintext is encrypted only while the channel is writable. A slow peer therefore delays plaintext, which the
// writer owns anyway, and no second copy of it exists as ciphertext.
extension TLSHandler {
    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch self.phase {
        case .idle, .handshaking, .open:
            guard !self.isOutputClosed else {
                promise?.fail(ChannelError.outputClosed)
                return
            }
            self.pending.append(self.unwrapOutboundIn(data), promise: promise)
        case .closing, .draining, .closed:
            promise?.fail(ChannelError.ioOnClosedChannel)
        }
    }

    package func flush(context: ChannelHandlerContext) {
        // The close has flushed or failed all earlier writes.
        guard self.phase != .closing else { return }
        self.pending.markFlushed()
        self.sendPending()
    }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        self.sendPending()
        context.fireChannelWritabilityChanged()
    }

    /// Encrypts and sends flushed plaintext while the channel is writable. After the last byte it continues a pending
    /// close.
    func sendPending() {
        // The completion of a promise in here may flush again; the running loop sends those bytes.
        guard self.phase == .open || self.phase == .closing, !self.isSending else { return }
        self.isSending = true
        var promise: EventLoopPromise<Void>?
        do throws(TLSError) {
            while let context = self.context, let connection = self.connection, self.pending.hasFlushed,
                self.phase == .open || self.phase == .closing, context.channel.isWritable
            {
                promise = nil
                try self.pending.encryptChunk(with: connection, promise: &promise)
                self.sendOutput(promise: promise)
            }
        } catch {
            self.isSending = false
            promise?.fail(error)
            self.fail(error)
            return
        }
        self.isSending = false
        guard !self.pending.hasFlushed else { return }
        if self.phase == .closing {
            self.continueClosing()
        } else if self.phase == .open, self.isOutputClosed {
            self.finishOutputClose()
        }
    }

    /// Sends the ciphertext that OpenSSL has produced; the promise covers it and all earlier writes.
    func sendOutput(promise: EventLoopPromise<Void>?) {
        guard let context = self.context else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        if let output = self.connection?.takeOutput() {
            context.writeAndFlush(self.wrapOutboundOut(output), promise: promise)
        } else if promise != nil {
            // An empty write completes after the writes before it.
            context.writeAndFlush(self.wrapOutboundOut(ByteBuffer()), promise: promise)
        }
    }

    // MARK: Closing

    package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        switch mode {
        case .all: self.closeAll(context: context, promise: promise)
        case .output: self.closeOutput(promise: promise)
        // TLS has no message that tells the peer to stop sending.
        case .input: promise?.fail(ChannelError.operationUnsupported)
        }
    }

    private func closeAll(context: ChannelHandlerContext, promise: EventLoopPromise<Void>?) {
        switch self.phase {
        case .idle, .handshaking:
            // There is no session yet that a close_notify could end.
            self.stopDeadline()
            self.phase = .closed
            self.failPending(ChannelError.ioOnClosedChannel)
            context.close(mode: .all, promise: promise)
        case .open:
            self.keepClosePromise(promise)
            self.startClosing()
        case .closing, .draining:
            self.keepClosePromise(promise)
        case .closed:
            context.close(mode: .all, promise: promise)
        }
    }

    private func keepClosePromise(_ promise: EventLoopPromise<Void>?) {
        guard let promise else { return }
        if let kept = self.closePromise {
            kept.futureResult.cascade(to: promise)
        } else {
            self.closePromise = promise
        }
    }

    /// Begins to close both directions, within the time limit.
    func startClosing() {
        self.phase = .closing
        self.startDeadline(self.tlsContext.closeTimeout)
        self.keepClosePromise(self.outputClosePromise)
        self.outputClosePromise = nil
        for promise in self.pending.removeUnflushed() { promise.fail(ChannelError.ioOnClosedChannel) }
        self.sendPending()
    }

    /// Sends close_notify after all flushed bytes, and closes the transport once the peer's close_notify has arrived.
    func continueClosing() {
        guard self.phase == .closing, !self.pending.hasFlushed, let context = self.context else { return }
        self.sendCloseNotify()
        if self.hasReceivedCloseNotify {
            self.closeTransportAfterCloseNotify()
        } else {
            self.readOn(context: context)
        }
    }

    private func sendCloseNotify() {
        guard self.closeNotifySent == nil, let context = self.context, let connection = self.connection else { return }
        let promise = context.eventLoop.makePromise(of: Void.self)
        self.closeNotifySent = promise.futureResult
        connection.shutdown()
        self.sendOutput(promise: promise)
    }

    /// Closes the transport, because the peer has ended the stream as well. Our own close_notify is sent first.
    func closeTransportAfterCloseNotify() {
        guard self.phase == .closing, let context = self.context else { return }
        self.phase = .draining
        self.failPending(ChannelError.ioOnClosedChannel)
        self.sendCloseNotify()
        if self.hasReceivedCloseNotify { context.fireUserInboundEventTriggered(TLSUserEvent.shutdownCompleted) }
        if let sent = self.closeNotifySent { self.close(after: sent) } else { self.closeTransport() }
    }

    private func closeOutput(promise: EventLoopPromise<Void>?) {
        guard self.phase == .idle || self.phase == .handshaking || self.phase == .open, !self.isOutputClosed else {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        self.isOutputClosed = true
        self.outputClosePromise = promise
        for promise in self.pending.removeUnflushed() { promise.fail(ChannelError.outputClosed) }
        self.sendPending()
    }

    /// Sends close_notify after the last bytes, and then closes the transport's output; reading continues.
    private func finishOutputClose() {
        guard self.closeNotifySent == nil else { return }
        if self.hasReceivedCloseNotify {
            // The peer has closed the other direction already.
            self.startClosing()
            return
        }
        self.sendCloseNotify()
        self.closeNotifySent?.assumeIsolated().whenComplete { _ in
            let promise = self.outputClosePromise
            self.outputClosePromise = nil
            guard self.phase == .open, let context = self.context else {
                promise?.succeed()
                return
            }
            context.close(mode: .output, promise: promise)
        }
    }
}
