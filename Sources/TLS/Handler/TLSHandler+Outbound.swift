package import NIOCore
internal import NIOTLS

// Plaintext in, ciphertext out, and the ways to close.
//
// Flushed plaintext is encrypted only while the channel is writable, so a slow peer holds up plaintext (which the writer
// owns anyway), and not a second copy of it as ciphertext.
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
        // What was written before a close is flushed by it or has failed.
        guard self.phase != .closing else { return }
        self.pending.markFlushed()
        self.sendPending()
    }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        self.sendPending()
        context.fireChannelWritabilityChanged()
    }

    /// Encrypts and sends flushed plaintext as long as the channel takes it, then what waits for that.
    func sendPending() {
        // A promise fulfilled in here may flush again: the loop that runs sees to it.
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

    /// Sends the ciphertext that OpenSSL has made; the promise is about all of it and all before it.
    func sendOutput(promise: EventLoopPromise<Void>?) {
        guard let context = self.context else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        if let output = self.connection?.takeOutput() {
            context.writeAndFlush(self.wrapOutboundOut(output), promise: promise)
        } else if promise != nil {
            // An empty write is done when those before it are.
            context.writeAndFlush(self.wrapOutboundOut(ByteBuffer()), promise: promise)
        }
    }

    // MARK: Closing

    package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        switch mode {
        case .all: self.closeAll(context: context, promise: promise)
        case .output: self.closeOutput(promise: promise)
        // TLS has no way to tell the peer that we read no more.
        case .input: promise?.fail(ChannelError.operationUnsupported)
        }
    }

    private func closeAll(context: ChannelHandlerContext, promise: EventLoopPromise<Void>?) {
        switch self.phase {
        case .idle, .handshaking:
            // There is no connection yet that close_notify could end.
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

    /// Begins the end of both directions, within the time limit.
    func startClosing() {
        self.phase = .closing
        self.startDeadline(self.tlsContext.closeTimeout)
        self.keepClosePromise(self.outputClosePromise)
        self.outputClosePromise = nil
        for promise in self.pending.removeUnflushed() { promise.fail(ChannelError.ioOnClosedChannel) }
        self.sendPending()
    }

    /// Says close_notify once everything before it is sent, and closes the transport once the peer has said it too.
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

    /// Closes the transport, for the peer is done as well; our own close_notify leaves first.
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

    /// Says close_notify after the last bytes, and then closes the transport's output; reading goes on.
    private func finishOutputClose() {
        guard self.closeNotifySent == nil else { return }
        if self.hasReceivedCloseNotify {
            // The other direction is closed already.
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
