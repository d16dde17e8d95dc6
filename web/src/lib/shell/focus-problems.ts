const invalid = '[aria-invalid="true"]';

/**
 * Moves the focus to the first field that is marked as wrong after its form was submitted, also if the server refuses
 * it later, unless the user has gone on typing. Returns a function that stops this.
 */
export function focusProblems(root: Document): () => void {
  let forget = () => {};

  function waitFor(form: HTMLFormElement) {
    forget();
    // The forms of the app mark their fields while the event is handled, and render the marks later.
    const observer = new MutationObserver(look);
    const timer = setTimeout(look);
    observer.observe(form, { subtree: true, attributeFilter: ['aria-invalid'] });
    form.addEventListener('input', stop);

    function stop() {
      observer.disconnect();
      clearTimeout(timer);
      form.removeEventListener('input', stop);
    }

    function look() {
      const field = form.querySelector<HTMLElement>(invalid);
      if (field === null) return;
      stop();
      field.focus();
    }

    forget = stop;
  }

  const onSubmit = ({ target }: Event) => target instanceof HTMLFormElement && waitFor(target);
  root.addEventListener('submit', onSubmit);
  return () => {
    forget();
    root.removeEventListener('submit', onSubmit);
  };
}
