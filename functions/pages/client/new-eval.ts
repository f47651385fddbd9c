import type { EvalRecord } from "../../../sdk/schema/eval.ts";
import type { NewEvalInput } from "../views/new-eval-model.ts";
import { messageOf, post } from "./api.ts";

/** Launches what the form says, and leads to its page. */
export function startNewEval(root: HTMLElement): void {
  const form = root.querySelector<HTMLFormElement>("#new-eval-form");
  const button = form?.querySelector("button");
  const problem = form?.querySelector<HTMLElement>(".problem");
  if (!form || !button || !problem) return;

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void launch(form, button, problem);
  });

  async function launch(from: HTMLFormElement, send: HTMLButtonElement, place: HTMLElement): Promise<void> {
    send.disabled = true;
    place.hidden = true;
    try {
      const { id } = await post<EvalRecord>("/ui/api/evals", askedFor(new FormData(from)));
      location.assign(`/ui/evals/${encodeURIComponent(id)}`);
    } catch (error) {
      place.textContent = messageOf(error);
      place.hidden = false;
      send.disabled = false;
    }
  }
}

function askedFor(form: FormData): NewEvalInput {
  const text = (name: string) => {
    const value = form.get(name);
    return typeof value === "string" ? value.trim() : "";
  };
  const [name, samples] = [text("name"), text("samplesPerRow")];
  return {
    from: text("from"),
    endpoint: text("endpoint"),
    passAt: form.getAll("passAt").map(Number),
    passThreshold: Number(text("passThreshold")),
    ...(name !== "" && { name }),
    ...(samples !== "" && { samplesPerRow: Number(samples) }),
  };
}
